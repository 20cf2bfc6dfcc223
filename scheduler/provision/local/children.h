// The worker processes that this gateway started: passes their standard error on to the log, reaps
// them, remembers how they ended. One thread of its own. Thread-safe. Children go on when it is
// destroyed.
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
  TimePoint started{}, ended{};  // of Children::now()
  bool expected = false;         // see expect_end()
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
  // With its own process group, an empty signal mask and no descriptor of ours but three. Error
  // {failed} when the system cannot start it.
  Started start(const ChildCommand& command);
  // It is about to be ended by us.
  void expect_end(const ProcessId& id);
  // The clock of these times: since boot, not the day's, so that nobody sets it.
  static TimePoint now();
  // How it ended; waits for the reaping, at most two seconds. nullopt when it still runs, or is no
  // child of ours.
  std::optional<EndedChild> ended(const ProcessId& id);
  std::vector<EndedChild> ended() const;
  void forget(const ProcessId& id);

 private:
  struct Child {
    std::string name;
    ProcessId id;
    UniqueFd watched, errors;
    std::string line, last_line;  // being read; the last whole one
    bool too_long = false;        // more of it came than is kept
    TimePoint started{};
    bool expected = false;
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
