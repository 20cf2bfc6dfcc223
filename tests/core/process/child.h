// A child that does one piece of work, for what holds for the rest of a process; and systems that lack a call.
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <functional>

namespace navtalk::test {

constexpr int k_signalled = 128;

// The exit status of a child that does the work, or 128 and the signal that ended it.
inline int status_of(const std::function<int()>& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);  // whatever does not end by its limit
    ::_exit(work());
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : k_signalled + WTERMSIG(status);
}

// The system call fails with that error from now on, as in a container whose profile refuses it. False: it cannot be
// forbidden here.
inline bool forbid(long call, int error) {
  constexpr unsigned short k_load = BPF_LD | BPF_W | BPF_ABS, k_equal = BPF_JMP | BPF_JEQ | BPF_K,
                           k_return = BPF_RET | BPF_K;
  std::array<sock_filter, 4> rules{{
      {k_load, 0, 0, offsetof(seccomp_data, nr)},
      {k_equal, 0, 1, static_cast<unsigned>(call)},
      {k_return, 0, 0, SECCOMP_RET_ERRNO | static_cast<unsigned>(error)},
      {k_return, 0, 0, SECCOMP_RET_ALLOW},
  }};
  const sock_fprog program{rules.size(), rules.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

}  // namespace navtalk::test
