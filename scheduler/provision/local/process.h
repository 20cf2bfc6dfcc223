// Worker processes of this host, read from /proc: which ones run, since when, where they listen. That
// does not depend on their parent, so that a restarted gateway finds its workers again. Linux only.
// Stateless. Error{failed} when no file descriptor is left to read /proc with.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/base/unique_fd.h"
#include "core/process/process_id.h"

namespace navtalk::local {

struct WorkerProcess {
  ProcessId id;
  std::string name;                    // behind --name on its command line
  std::vector<std::string> arguments;  // that line, the program first
};
// This user's processes that run with --worker and --name.
std::vector<WorkerProcess> worker_processes();

// Its environment at its start: NAME=value.
std::vector<std::string> environment_of(const ProcessId& id);
// Is its program still this file, and not one that was replaced since?
bool runs(const ProcessId& id, const std::filesystem::path& program);

// "http://127.0.0.1:40123" where it listens on loopback; "" when it listens nowhere (yet).
std::string listening_url(const ProcessId& id);

// A descriptor that becomes readable when the process ends; empty when it has ended already.
UniqueFd watch(const ProcessId& id);
// The same for a child that is not reaped yet: its process id cannot be reused.
UniqueFd watch_child(pid_t pid);
void send_signal(const UniqueFd& watched, int signal);

enum class Waited { ready, late, stopped };
// Waits until one of `fds` is readable (its index is in `which`), or a stop is requested.
Waited wait_readable(const std::vector<int>& fds, std::chrono::steady_clock::time_point until,
                     const std::stop_token& stop, std::size_t& which);

}  // namespace navtalk::local
