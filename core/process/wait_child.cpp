#include "core/process/wait_child.h"

#include <sys/wait.h>

#include <cerrno>

namespace navtalk {

int wait_child(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

}  // namespace navtalk
