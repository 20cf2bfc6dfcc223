// A new folder below the system's temporary folder or another one, removed with everything in it
// when this object ends. What a killed process left is removed by remove_abandoned_folders() of a later one.
// Not thread-safe.
#pragma once

#include <filesystem>

#include "core/base/unique_fd.h"

namespace navtalk {

class TemporaryFolder {
 public:
  // In TMPDIR, else /tmp. Error{failed} names the folder that cannot be written to.
  TemporaryFolder();
  explicit TemporaryFolder(const std::filesystem::path& parent);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  // As the destructor does; the path stays. What cannot be removed is left to remove_abandoned_folders().
  void remove();

 private:
  std::filesystem::path path_;
  UniqueFd lock_;  // tells others that it is in use
  bool removed_ = false;
};

// Removes those of this user below TMPDIR, else /tmp, whose process has ended.
void remove_abandoned_folders();
void remove_abandoned_folders(const std::filesystem::path& parent);

}  // namespace navtalk
