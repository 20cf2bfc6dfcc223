// What a file of /proc says of a process that may end at any moment. Linux only. Stateless.
#pragma once

#include <optional>
#include <string>

namespace navtalk {

// The whole text of `path`, such as "/proc/77/stat". nullopt when the process has ended, before the
// file was opened or while it was read, or when it belongs to another user. Error{failed} for every
// other reason, such as a lack of file descriptors: that proves nothing about the process.
std::optional<std::string> read_proc_file(const std::string& path);

}  // namespace navtalk
