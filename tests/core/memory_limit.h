// Runs work in a child that may take only so much more memory than it has. Sanitizers reserve terabytes, so
// that a limit means nothing there: with them, what was in memory at the most counts, several times the
// bound, because they keep what was freed.
#pragma once

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <exception>
#include <fstream>
#include <functional>
#include <string>

namespace navtalk::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool k_limits_memory = false;
#else
inline constexpr bool k_limits_memory = true;
#endif

// A line of /proc/self/status, in bytes.
inline std::size_t memory_of_this_process(const std::string& line) {
  std::ifstream status("/proc/self/status");
  std::string name;
  std::size_t kib = 0;
  while (status >> name) {
    if (name == line + ":" && status >> kib) return kib * 1024;
    std::getline(status, name);
  }
  return 0;
}

// True when the work returns true within the bound, and throws nothing. Not for processes with threads.
inline bool fits_into(std::size_t bytes, const std::function<bool()>& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    bool done = false;
    const std::size_t before = memory_of_this_process("VmRSS");
    if (k_limits_memory) {
      const rlim_t most = memory_of_this_process("VmData") + bytes;
      const rlimit limit{most, most};
      ::setrlimit(RLIMIT_DATA, &limit);
    } else {
      std::ofstream("/proc/self/clear_refs") << "5";  // VmHWM starts anew
    }
    try {
      done = work();
    } catch (const std::exception&) {
      done = false;
    }
    constexpr std::size_t k_kept_by_sanitizers = 4;
    if (!k_limits_memory)
      done = done && memory_of_this_process("VmHWM") < before + k_kept_by_sanitizers * bytes;
    ::_exit(done ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace navtalk::test
