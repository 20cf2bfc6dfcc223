// A process of this host that cannot be mistaken for a later one. Linux only: read from /proc.
// Stateless.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

namespace navtalk {

// The kernel gives a process id again; together with the start time it is unique until the next
// boot.
struct ProcessId {
  pid_t pid = 0;
  std::uint64_t start_ticks = 0;  // since boot, in clock ticks

  friend bool operator==(const ProcessId&, const ProcessId&) = default;
};

// "1234:567890", and back; nullopt for other text.
std::string text(const ProcessId& id);
std::optional<ProcessId> parse_process_id(const std::string& text);

// The process with that id now; nullopt when there is none, or it has ended and waits to be reaped.
// Error{failed} when /proc cannot be read, for lack of a file descriptor: that proves nothing.
std::optional<ProcessId> identify(pid_t pid);

}  // namespace navtalk
