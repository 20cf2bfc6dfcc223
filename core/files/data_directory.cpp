#include "core/files/data_directory.h"

#include <fmt/format.h>

#include <cstdlib>
#include <system_error>
#include <vector>

#include "core/base/error.h"

namespace navtalk {
namespace {

bool holds_demo(const std::filesystem::path& directory) {
  std::error_code ignored;
  return std::filesystem::is_directory(directory / "demo", ignored);
}

std::vector<std::filesystem::path> candidates(const std::filesystem::path& executable) {
  std::vector<std::filesystem::path> found{executable.parent_path().parent_path() /
                                           "share/navtalk"};
  for (auto above = executable.parent_path(); above != above.root_path();
       above = above.parent_path()) {
    std::error_code ignored;
    if (std::filesystem::exists(above / "CMakePresets.json", ignored))
      found.push_back(above / "assets");
  }
  return found;
}

}  // namespace

std::filesystem::path data_directory() {
  if (const char* directory = std::getenv("NAVTALK_DATA_DIR");
      directory != nullptr && *directory != '\0') {
    if (holds_demo(directory)) return directory;
    throw Error(Code::not_found,
                fmt::format("NAVTALK_DATA_DIR={} holds no demo/ folder", directory));
  }
  std::error_code failed;
  const auto executable = std::filesystem::read_symlink("/proc/self/exe", failed);
  for (const auto& directory : candidates(executable)) {
    if (holds_demo(directory)) return directory;
  }
  throw Error(Code::not_found,
              fmt::format("the demo files are not in {}: reinstall navtalk or set NAVTALK_DATA_DIR",
                          candidates(executable).front().native()));
}

}  // namespace navtalk
