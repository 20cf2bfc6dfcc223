// What a process of this machine uses, from /proc. Stateless.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

namespace navtalk::cmd {

struct ProcessUse {
  int threads = 0, descriptors = 0;
  std::uint64_t resident_bytes = 0;
  double processor_s = 0;  // user and system time since it started
};
// nullopt when the process has ended, or belongs to another user.
std::optional<ProcessUse> use_of(pid_t process);

// The process that listens on that TCP port of this machine; nullopt when none of this user does.
std::optional<pid_t> listener_of(int port);

// Processes whose variable STATE_DIRECTORY is that folder.
std::vector<pid_t> processes_of_state(const std::filesystem::path& folder);

}  // namespace navtalk::cmd
