// A list of videos that is a folder: a recording or a text in a .txt file each.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cmd/job/cells.h"

namespace navtalk::cmd {

// By name, without hidden ones and folders; links that lead nowhere, pipes and devices are among them. Error{not_found} and Error{invalid} for a folder that cannot be read, or
// has none.
std::vector<std::filesystem::path> files_of(const std::filesystem::path& folder);
// The output is named for the file, with that ending. Error{not_found}, Error{invalid} for what is no regular file; errors of
// read_file().
Cells cells_of_file(const std::filesystem::path& file, const std::string& format);

}  // namespace navtalk::cmd
