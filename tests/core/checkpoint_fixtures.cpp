#include "tests/core/checkpoint_fixtures.h"

#include <unistd.h>

#include <cstdlib>

ScratchFile::ScratchFile(const std::string& content) {
  std::string name = (std::filesystem::temp_directory_path() / "navtalk_test_XXXXXX").string();
  const int fd = ::mkstemp(name.data());
  path_ = name;
  std::ofstream(path_, std::ios::binary) << content;
  ::close(fd);
}
