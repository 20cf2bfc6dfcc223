// What holds a slot of a worker: a live session, or a job.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <string_view>

#include "server/http/socket/frame.h"

namespace navtalk::server {

class SlotHolder {
 public:
  virtual ~SlotHolder() = default;
  // Until the connection ends.
  virtual boost::asio::awaitable<void> run() = 0;
  // Ends it from outside, with an error for the other side.
  virtual void end(std::string_view code, std::string_view message) = 0;
  // Drops the frame if the other side does not read.
  virtual void offer(Frame frame) = 0;
};

}  // namespace navtalk::server
