// A child process with its first line of output. It ends with its owner, and when the thread that
// started it ends, so start it from one that lasts.
#pragma once

#include <sys/types.h>

#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace navtalk::tests {

class ChildProcess {
 public:
  // `environment` is added to ours. Throws std::runtime_error when it cannot be started.
  ChildProcess(const std::vector<std::string>& command,
               const std::map<std::string, std::string>& environment);
  ~ChildProcess();  // SIGTERM, and SIGKILL after two seconds
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // The port in the "url" or "listen" of the JSON object that it wrote first; 0 as long as there is
  // none. Does not block.
  int port();
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
  int output_ = -1;
  std::mutex mutex_{};
  std::string text_{};
};

}  // namespace navtalk::tests
