// Which of a cache's files are removed when it exceeds its limit. Private to core/artifacts.
#pragma once

#include <cstdint>
#include <filesystem>

namespace navtalk {

// The suffix of a version that is being assembled.
inline constexpr const char* k_unfinished = ".unfinished";
// Beside the versions of a name: locked by the process that assembles one.
inline constexpr const char* k_version_lock = "lock";

// Removes versions, and blobs and partial blobs that belong to no version, least recently used first,
// until at most `most` bytes are left or everything left is in use. Does nothing while another process
// does the same.
void evict(const std::filesystem::path& cache, std::uint64_t most);
// Removes one version that is not in use. It is renamed first, so that nobody finds half of it.
void remove_version(const std::filesystem::path& version);

}  // namespace navtalk
