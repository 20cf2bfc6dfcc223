// Puts another program in the place of espeak-ng.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>

#include "tests/core/files/scratch_folder.h"

namespace navtalk::test {

// The PATH of this process, put back at the end.
class Path {
 public:
  explicit Path(const std::string& value) {
    if (const char* old = ::getenv("PATH")) old_ = old;
    ::setenv("PATH", value.c_str(), 1);
  }
  ~Path() { ::setenv("PATH", old_.c_str(), 1); }
  Path(const Path&) = delete;
  Path& operator=(const Path&) = delete;

 private:
  std::string old_;
};

// A folder whose espeak-ng is this shell script.
inline void put_espeak(const ScratchFolder& folder, const std::string& script) {
  put(folder / "espeak-ng", "#!/bin/sh\n" + script);
  std::filesystem::permissions(folder / "espeak-ng", std::filesystem::perms::owner_all);
}

}  // namespace navtalk::test
