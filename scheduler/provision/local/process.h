// Worker processes of this host, as /proc tells: which ones run, since when, where they listen.
// What is known of a process survives its parent, so that a restarted gateway finds its workers
// again. Linux only. Stateless. Error{failed} where there is no file descriptor left to look with.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/base/unique_fd.h"

namespace navtalk::local {

// A process id alone may come to mean another process; with the start time it cannot.
struct ProcessId {
  pid_t pid = 0;
  std::uint64_t start_ticks = 0;  // since boot, in clock ticks

  friend bool operator==(const ProcessId&, const ProcessId&) = default;
};
// "1234:567890", and back; nullopt for other text.
std::string text(const ProcessId& id);
std::optional<ProcessId> parse_process_id(const std::string& text);

// nullopt for a process that is not there, or only waits to be reaped.
std::optional<ProcessId> identify(pid_t pid);

struct WorkerProcess {
  ProcessId id;
  std::string name;                    // behind --name on its command line
  std::vector<std::string> arguments;  // that line, the program first
};
// This user's processes that run with --worker and --name.
std::vector<WorkerProcess> worker_processes();

// NAME=value, as it was started with.
std::vector<std::string> environment_of(const ProcessId& id);
// Is its program the file that is there now, and not one that was replaced since?
bool runs(const ProcessId& id, const std::filesystem::path& program);

// "http://127.0.0.1:40123" where it listens on loopback; "" when it listens nowhere (yet).
std::string listening_url(const ProcessId& id);

// A descriptor that becomes readable when the process ends; empty when it is gone already.
UniqueFd watch(const ProcessId& id);
// The same of a child that nobody has reaped: its number is its own.
UniqueFd watch_child(pid_t pid);
void send_signal(const UniqueFd& watched, int signal);

enum class Waited { ready, late, stopped };
// Until one of `fds` (or a stop request) is there: its index in `which`.
Waited wait_readable(const std::vector<int>& fds, std::chrono::steady_clock::time_point until,
                     const std::stop_token& stop, std::size_t& which);

}  // namespace navtalk::local
