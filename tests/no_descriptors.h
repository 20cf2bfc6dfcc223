// While it lives this process can open no file: its limit on open files is the lowest descriptor that
// is free. One below it that is closed meanwhile can be taken again; with the descriptor that was the
// lowest before something was opened, its end frees nothing. UBSan, which comes with ASan here, needs
// descriptors itself to look at an object's type: tests leave this out there.
#pragma once

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

namespace navtalk::tests {

#ifndef __SANITIZE_ADDRESS__
class NoDescriptors {
 public:
  static int lowest_free() {
    const int lowest = ::dup(STDERR_FILENO);
    ::close(lowest);
    return lowest;
  }
  explicit NoDescriptors(int lowest = lowest_free()) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit none = {std::min(before_.rlim_cur, static_cast<rlim_t>(lowest)), before_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &none);
  }
  ~NoDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  NoDescriptors(const NoDescriptors&) = delete;
  NoDescriptors& operator=(const NoDescriptors&) = delete;

 private:
  rlimit before_{};
};
#endif

}  // namespace navtalk::tests
