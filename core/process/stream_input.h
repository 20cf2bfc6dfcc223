// Inputs that can be read once only: standard input, pipes, process substitution. They are read to
// their end into memory, which can then be opened as often as a file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <stop_token>
#include <string>

#include "core/base/unique_fd.h"

namespace navtalk {

// True for "-", and for what is there and is neither a regular file nor a folder.
bool is_stream(const std::filesystem::path& path);
// What messages call it: "standard input", or the path.
std::string stream_name(const std::filesystem::path& path);

// Error{usage} for a terminal; Error{invalid} for a stream that is empty or holds more than
// `max_bytes`; Error{failed} with the system's reason. A stop request ends the wait for data.
UniqueFd read_stream(const std::filesystem::path& path, std::int64_t max_bytes,
                     const std::stop_token& stop);
// Where the content of a memory file can be opened, by this process, as long as `file` lives.
std::filesystem::path path_of_memory(const UniqueFd& file);

}  // namespace navtalk
