// Waits for a child process to end, and reaps it. Thread-safe for different children.
#pragma once

#include <sys/types.h>

namespace navtalk {

// The child's status as waitpid(2) gives it; a signal that arrives here does not end the wait. 0 for
// what is not a child of this process, or was reaped already.
int wait_child(pid_t child);

}  // namespace navtalk
