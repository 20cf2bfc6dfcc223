// Which content of the cache was compared with its SHA-256, so that it is not read again each time that it is used:
//
//   verified/SHA256    inode, size in bytes and last change in nanoseconds since 1970 of the file that was right
//
// A file that has another inode, size or last change than its record is read. Private to core/artifacts. Thread-safe;
// several processes may call at the same time.
#pragma once

#include <filesystem>
#include <string>

#include "core/artifacts/manifest.h"

namespace navtalk {

inline constexpr const char* k_verified = "verified";  // in the cache

class VerifiedContent {
 public:
  // Error{failed} when the folder cannot be made.
  explicit VerifiedContent(std::filesystem::path folder);

  // Does the file have that content? False also where it cannot be read. Says in the log what is wrong with a file that
  // is there.
  bool verify(const std::filesystem::path& file, const ArtifactFile& content) const;
  // The file was verified elsewhere, and is read-only since. One that cannot be recorded is read again later.
  void record(const std::filesystem::path& file, const ArtifactFile& content) const;
  // What has this content is read again when it is verified next.
  void forget(const ArtifactFile& content) const;

 private:
  std::filesystem::path place(const ArtifactFile& content) const;

  std::filesystem::path folder_;
};

}  // namespace navtalk
