// A new folder below the system's temporary folder or another one, removed with everything in it
// when this object ends. Not thread-safe.
#pragma once

#include <filesystem>

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

 private:
  std::filesystem::path path_;
};

}  // namespace navtalk
