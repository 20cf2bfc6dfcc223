// Locks by which processes share a cache: on files, which the holder of the lock may rename or remove,
// and on folders that are in use. A lock ends with its descriptor. Stateless.
#pragma once

#include <filesystem>
#include <optional>
#include <stop_token>

#include "core/base/unique_fd.h"

namespace navtalk {

// Opens the file, or makes it, and locks it; waits while another process holds the lock. The file
// still has that name when this returns. Error{failed}; Error{interrupted} or Error{terminated} on a
// stop request.
UniqueFd lock_file(const std::filesystem::path& path, const std::stop_token& stop);
// The same without waiting; nullopt when another process holds it.
std::optional<UniqueFd> lock_now(const std::filesystem::path& path);
// Locks a file or folder that exists; nullopt when it is missing, or locked or in use elsewhere.
std::optional<UniqueFd> try_lock(const std::filesystem::path& path);
// Marks a folder as in use (a shared lock); nullopt when it is missing or is being removed.
std::optional<UniqueFd> use_folder(const std::filesystem::path& path);

}  // namespace navtalk
