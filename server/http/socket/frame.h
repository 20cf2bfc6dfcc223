// One frame of a WebSocket as its users see it: a plain value.
#pragma once

#include <string>

namespace navtalk::server {

struct Frame {
  bool text = true;  // else binary
  std::string bytes{};
};

}  // namespace navtalk::server
