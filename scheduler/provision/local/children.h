// The worker processes that this gateway started: forwards their standard error to the log, reaps
// them, and records how they ended. It notices when adopted ones end. One thread of its own.
// Thread-safe. Children survive its destructor.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "core/base/time.h"
#include "core/base/unique_fd.h"
#include "scheduler/provision/local/process.h"

namespace navtalk::local {

struct ChildCommand {
  std::string name;                      // unique
  std::vector<std::string> arguments;    // the program's path first
  std::vector<std::string> environment;  // NAME=value
};

struct EndedChild {
  std::string name;
  ProcessId id;
  std::string how;               // "exit status 3: cannot load unet.pth", "signal 9"
  TimePoint started{}, ended{};  // of Children::now(); adopted ones are as old as their adoption
  bool expected = false;         // see expect_end()
  bool adopted = false;          // see adopt()
};

class Children {
 public:
  // `on_end` runs on this object's thread.
  explicit Children(std::function<void(const EndedChild&)> on_end);
  ~Children();
  Children(const Children&) = delete;
  Children& operator=(const Children&) = delete;

  struct Started {
    ProcessId id;
    UniqueFd output;  // its standard output
  };
  // In a process group of its own, with an empty signal mask and only three descriptors. Error{failed}
  // when the system cannot start it.
  Started start(const ChildCommand& command);
  // Watches a process that another one started, if it runs. Only its parent learns with which status it ends. Its end is remembered
  // for an hour. Error{failed} without a descriptor left.
  void adopt(const std::string& name, const ProcessId& id);
  // We are about to end it.
  void expect_end(const ProcessId& id);
  // The clock of these times: monotonic, so that nobody can set it.
  static TimePoint now();
  // How it ended; waits up to two seconds until it is reaped. nullopt when it still runs, or is neither a
  // child of this process nor adopted.
  std::optional<EndedChild> ended(const ProcessId& id);
  std::vector<EndedChild> ended() const;
  std::size_t running() const;  // without adopted ones
  void forget(const ProcessId& id);

 private:
  struct Child {
    std::string name;
    ProcessId id;
    UniqueFd watched, errors;
    std::string line, last_line;  // being read; the last whole one
    bool too_long = false;        // more of it came than is kept
    TimePoint started{};
    bool expected = false, adopted = false;
  };

  void run(const std::stop_token& stop);
  bool read_errors(Child& child);
  void pass_on(Child& child);
  EndedChild reap(Child& child);

  std::function<void(const EndedChild&)> on_end_;
  UniqueFd changed_;
  mutable std::mutex mutex_;
  std::condition_variable reaped_;
  std::map<pid_t, Child> children_;
  std::map<pid_t, EndedChild> ended_;
  std::jthread thread_;
};

}  // namespace navtalk::local
