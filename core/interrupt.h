// Ctrl-C and SIGTERM as one std::stop_token. Long work takes the token and calls throw_if_stopped()
// between steps; destructors then remove what is half-written, and the process ends with 130 or
// 143.
#pragma once

#include <stop_token>

namespace navtalk {

// Blocks SIGINT and SIGTERM in the calling thread and all that it starts later, and turns them into
// a stop request. Make one, first thing in main. A second signal ends the process at once.
class SignalStop {
 public:
  SignalStop();
  ~SignalStop();
  SignalStop(const SignalStop&) = delete;
  SignalStop& operator=(const SignalStop&) = delete;

  std::stop_token token() const;

 private:
  struct State;
  State* state_;
};

// Throws Error{interrupted} or Error{terminated}, by the signal that came; does nothing otherwise.
void throw_if_stopped(const std::stop_token& token);

}  // namespace navtalk
