#include "avatars/bundle/library.h"

#include <fmt/format.h>

#include <algorithm>

#include "avatars/bundle/avatar_id.h"
#include "avatars/bundle/bundle_files.h"
#include "core/base/error.h"

namespace navtalk {
namespace {

namespace fs = std::filesystem;

bool holds_avatar(const fs::path& folder) {
  std::error_code ignored;
  return fs::is_regular_file(folder / k_info_file, ignored);
}

ListedAvatar read_listed(const fs::path& folder) {
  try {
    return {folder, read_avatar_info(folder / k_info_file), {}};
  } catch (const Error& error) {
    return {folder, std::nullopt, error.message()};
  }
}

}  // namespace

fs::path find_avatar(const std::string& name, const std::vector<fs::path>& libraries) {
  std::error_code ignored;
  if (!valid_avatar_id(name)) {
    if (holds_avatar(name)) return name;
    if (fs::exists(name, ignored))
      throw Error(Code::not_found,
                  fmt::format("{} is not an avatar: it has no {}", name, k_info_file));
    throw Error(
        name.find('/') == std::string::npos ? Code::usage : Code::not_found,
        fmt::format("\"{}\" is neither an avatar's folder nor an id ({})", name, k_avatar_id_rule));
  }
  std::string looked;
  for (const fs::path& library : libraries) {
    if (holds_avatar(library / name)) return library / name;
    looked += (looked.empty() ? "" : ", ") + library.string();
  }
  throw Error(
      Code::not_found,
      holds_avatar(name)
          ? fmt::format("there is no avatar \"{}\" in {}: for the folder {} write ./{}", name,
                        looked, name, name)
          : fmt::format("there is no avatar \"{}\" in {}; navtalk avatar list shows what there is",
                        name, looked));
}

std::vector<ListedAvatar> list_avatars(const fs::path& library) {
  std::error_code error;
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(library, error)) {
    // What preparation has not finished yet is not there.
    if (holds_avatar(entry.path()) && entry.path().extension() != ".partial")
      folders.push_back(entry.path());
  }
  if (error) throw Error(Code::not_found, fmt::format("{}: {}", library.string(), error.message()));
  std::sort(folders.begin(), folders.end());
  std::vector<ListedAvatar> avatars;
  avatars.reserve(folders.size());
  for (const fs::path& folder : folders) avatars.push_back(read_listed(folder));
  return avatars;
}

}  // namespace navtalk
