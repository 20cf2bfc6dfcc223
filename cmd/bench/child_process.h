// A process that a bench starts and speaks to, line by line, over its standard input and output. It is
// killed with the object, and with the bench. One owner, one thread.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/base/unique_fd.h"

namespace navtalk::cmd {

class ChildProcess {
 public:
  struct Start {
    std::vector<std::string> arguments{};  // of this program, run again
    // NAME=VALUE, added to the bench's own variables.
    std::vector<std::string> variables{};
    // Of the bench's own variables, by name: true for those that the process does not get.
    std::function<bool(const std::string&)> withheld{};
    std::filesystem::path errors{};  // a file for its standard error; empty: the bench's own
  };
  // Error{failed} when the system cannot start it.
  explicit ChildProcess(const Start& start);
  ~ChildProcess();
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&&) = delete;
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  pid_t pid() const { return pid_; }
  // Error{failed} when the process has ended.
  void tell(const std::string& line);
  // The next line of its output. Error{failed} when it ended instead; Error{interrupted},
  // Error{terminated} when a stop is asked.
  std::string line(const std::stop_token& stop);
  // SIGTERM, and waits until it has ended.
  void terminate();

 private:
  pid_t pid_ = -1;
  UniqueFd input_, output_;
  std::string unread_;
};

}  // namespace navtalk::cmd
