// A folder of its own for one test, removed with everything in it. In memory where that can be:
// thousands of small files take seconds on a busy disk.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace navtalk::tests {

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    const bool memory = std::getenv("TMPDIR") == nullptr && access("/dev/shm", W_OK | X_OK) == 0;
    const std::filesystem::path base = memory ? "/dev/shm" : std::filesystem::temp_directory_path();
    std::string name = (base / "navtalk-test-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~TemporaryDirectory() {
    std::error_code ignored;  // what a test made unreadable is not a reason to fail
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::filesystem::path& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

}  // namespace navtalk::tests
