#include "cmd/job/folder_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <system_error>

#include "core/base/error.h"
#include "core/files/whole_file.h"
#include "core/text/printable.h"
#include "core/text/trim.h"

namespace navtalk::cmd {
namespace fs = std::filesystem;

std::vector<fs::path> files_of(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> files;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::error_code none;
    if (!at->is_directory(none) && !at->path().filename().native().starts_with('.'))
      files.push_back(at->path());
  }
  if (error)
    throw Error(error == std::errc::no_such_file_or_directory ? Code::not_found : Code::invalid,
                fmt::format("the folder {} cannot be read: {}", printable(folder.native()),
                            error.message()));
  if (files.empty()) throw Error(Code::invalid, printable(folder.native()) + " holds no files");
  std::ranges::sort(files);
  return files;
}

namespace {

void check_is_file(const fs::path& file) {
  std::error_code error;
  const fs::file_type type = fs::status(file, error).type();
  if (type == fs::file_type::not_found)
    throw Error(Code::not_found, "is a link to a file that does not exist");
  if (type != fs::file_type::regular) throw Error(Code::invalid, "is not a regular file");
}

}  // namespace

Cells cells_of_file(const fs::path& file, const std::string& format) {
  check_is_file(file);
  Cells cells = {{"output", file.stem().native() + "." + format}};
  if (file.extension() == ".txt") {
    const std::vector<std::uint8_t> bytes = read_file(file);
    cells["text"] = std::string(trim(std::string(bytes.begin(), bytes.end())));
  } else {
    cells["audio"] = fs::absolute(file).native();
  }
  return cells;
}

}  // namespace navtalk::cmd
