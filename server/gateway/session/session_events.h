// What others tell a session: one flag for each, and the signal that wakes its coroutine. The
// client's and the worker's socket notify the same signal. Of the I/O thread.
#pragma once

#include "server/http/signal.h"

namespace navtalk::server {

struct SessionEvents {
  explicit SessionEvents(const boost::asio::any_io_executor& executor) : signal(executor) {}

  Signal signal;
  bool pool_changed = false;  // until the session has looked at the pool
  bool returned = false;      // the client, on another connection: until it was told anew
  bool draining = false;      // the gateway is going away
};

}  // namespace navtalk::server
