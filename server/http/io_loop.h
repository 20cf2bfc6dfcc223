// The loop of a server's I/O thread, and the end of the coroutines that it still holds when it was
// stopped. Declare in this order:
//
//   IoLoop io;                 destroyed last
//   ...                        what coroutines refer to: components, timers, sockets
//   CoroutineScope scope{io};  its end destroys the coroutines, while all that is still there
//   BlockingThreads ...        threads end first: they resume coroutines on the loop
#pragma once

#include <boost/asio/io_context.hpp>

namespace navtalk::server {

// Asio lets only a derived class end a loop's coroutines before the loop itself.
class IoLoop : public boost::asio::io_context {
 public:
  IoLoop() : io_context(1) {}
  // After run() has returned for the last time.
  void destroy_coroutines() { shutdown(); }
};

class CoroutineScope {
 public:
  explicit CoroutineScope(IoLoop& io) : io_(io) {}
  ~CoroutineScope() { io_.destroy_coroutines(); }
  CoroutineScope(const CoroutineScope&) = delete;
  CoroutineScope& operator=(const CoroutineScope&) = delete;

 private:
  IoLoop& io_;
};

}  // namespace navtalk::server
