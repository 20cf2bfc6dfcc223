#include "core/process/open_files.h"

#include <sys/resource.h>

#include <algorithm>

namespace navtalk {

void raise_open_files() {
  constexpr rlim_t k_enough = 65'536;
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur >= k_enough) return;
  files.rlim_cur = std::min(k_enough, files.rlim_max);
  ::setrlimit(RLIMIT_NOFILE, &files);  // refused: the limit stays as it is
}

std::size_t open_file_limit() {
  constexpr std::size_t k_usual = 1024;
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return k_usual;
  return static_cast<std::size_t>(files.rlim_cur);
}

}  // namespace navtalk
