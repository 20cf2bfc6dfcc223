// Ctrl-C and SIGTERM as one std::stop_token, and SIGHUP as a call. Long work takes the token and calls throw_if_stopped()
// between steps; destructors then remove what is half-written, and the process ends with 130 or
// 143.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>

namespace navtalk {

// Blocks SIGINT, SIGTERM and SIGHUP in the calling thread and all that it starts later, and turns the first
// two into a stop request. Make one, first thing in main, and destroy it in the same thread. A second
// signal, at least 0.3 s later, ends the process at once with 130 or 143. A process started
// meanwhile inherits the blocked signals: give it an empty mask (posix_spawnattr_setsigmask).
class SignalStop {
 public:
  SignalStop();
  ~SignalStop();
  SignalStop(const SignalStop&) = delete;
  SignalStop& operator=(const SignalStop&) = delete;

  std::stop_token token() const;
  // What SIGHUP does from now on: `callback`, on the thread that waits for signals, which takes no other
  // meanwhile. Returns when an older one is over. Empty, as at first: it ends the process, unless the
  // process was started with SIGHUP ignored (nohup).
  void on_hangup(std::function<void()> callback);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Once `token` is asked to stop: throws Error{terminated} after SIGTERM, Error{interrupted} after
// SIGINT or when no signal came. Does nothing before.
void throw_if_stopped(const std::stop_token& token);
// For work that goes on until it is asked to stop, and has then ended well: the exit status of that
// stop (143 after SIGTERM, otherwise 130); 0 before.
int stop_status(const std::stop_token& token);

}  // namespace navtalk
