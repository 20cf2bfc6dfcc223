// Locks by which processes share a cache: on files that may be renamed or removed by whoever has the
// lock, and on folders that are in use. A lock ends with its descriptor. Stateless.
#pragma once

#include <filesystem>
#include <optional>
#include <stop_token>

#include "core/base/unique_fd.h"

namespace navtalk {

// Opens the file, which is made if it is not there, and locks it; waits while another process has it.
// The file has that name when this returns. Error{failed}; Error{interrupted} or Error{terminated} on a
// stop request.
UniqueFd lock_file(const std::filesystem::path& path, const std::stop_token& stop);
// The same without waiting; nullopt when another has it.
std::optional<UniqueFd> lock_now(const std::filesystem::path& path);
// Of a file or folder that is there; nullopt when another has or uses it, or it is not there.
std::optional<UniqueFd> try_lock(const std::filesystem::path& path);
// Marks a folder as in use, together with others who use it; nullopt when it is not there, or is being
// removed.
std::optional<UniqueFd> use_folder(const std::filesystem::path& path);

}  // namespace navtalk
