#include "core/base/shortage.h"

#include <fcntl.h>

#include <cerrno>

#include "core/base/unique_fd.h"

namespace navtalk {

bool is_shortage(int error_number) {
  switch (error_number) {
    case EMFILE:
    case ENFILE:
    case ENOBUFS:
    case ENOMEM:
    case EADDRNOTAVAIL:
      return true;
    default:
      return false;
  }
}

bool out_of_descriptors() {
  const UniqueFd one(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  return !one && is_shortage(errno);
}

}  // namespace navtalk
