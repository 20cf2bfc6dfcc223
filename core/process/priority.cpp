#include "core/process/priority.h"

#include <sys/resource.h>

namespace navtalk {

void yield_to_others() {
  constexpr int k_nice = 10;
  // On Linux, 0 is the calling thread.
  ::setpriority(PRIO_PROCESS, 0, k_nice);
}

}  // namespace navtalk
