// Small files read and written in one piece, with errors that name the file and the system's
// reason. Stateless.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "core/base/unique_fd.h"

namespace navtalk {

// errno's text, such as "No space left on device".
std::string system_message(int error_number);

// Opens an input for reading. Error{not_found} when it is not there; Error{invalid} for a directory, an empty
// file, or one that may not be read; Error{failed} when a shortage or the disk is at fault.
UniqueFd open_input(const std::filesystem::path& path);

std::vector<std::uint8_t> read_file(const std::filesystem::path& path);  // errors of open_input
// Creates or replaces the file; on failure it is removed and Error{failed} thrown. A link is not
// written through.
void write_file(const std::filesystem::path& path, std::span<const std::uint8_t> bytes);

}  // namespace navtalk
