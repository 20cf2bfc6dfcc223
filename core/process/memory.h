// How much memory this machine has for this process and those beside it, and how much one process has. A limit of
// a control group counts like a smaller machine. Linux only. Stateless.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>

namespace navtalk {

// All in bytes.
struct MemoryRoom {
  std::uint64_t total = 0;
  std::uint64_t used =
      0;  // what the kernel can take back at once, such as read files, does not count
};

// Where the system tells of memory; tests have folders of their own.
struct MemoryPlaces {
  std::filesystem::path proc = "/proc";
  std::filesystem::path groups = "/sys/fs/cgroup";
};

// Of the machine and of each control group of this process (version 1 or 2), the one that has the least left.
// nullopt: the system does not tell.
std::optional<MemoryRoom> memory_room(const MemoryPlaces& places = {});

// What a process has in memory; nullopt when it has ended.
std::optional<std::uint64_t> resident_bytes(pid_t process);

}  // namespace navtalk
