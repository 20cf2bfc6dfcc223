// Which of a cache's files go when there are too many bytes. Private to core/artifacts.
#pragma once

#include <cstdint>
#include <filesystem>

namespace navtalk {

// Behind the name of a version that is being put together.
inline constexpr const char* k_unfinished = ".unfinished";
// Beside the versions of a name: locked by whoever puts one together.
inline constexpr const char* k_version_lock = "lock";

// Removes versions, and blobs and partial blobs that no version has, in the order of their last use
// until at most `most` bytes are left or all that is left is in use. Does nothing while another
// process does the same.
void evict(const std::filesystem::path& cache, std::uint64_t most);
// Removes one version that is not in use; first its name, so that nobody finds half of it.
void remove_version(const std::filesystem::path& version);

}  // namespace navtalk
