#include "server/gateway/live_session.h"

#include "server/protocol/control_frame.h"

namespace navtalk::server {

bool LiveSession::client_left() {
  while (!left_) {
    const std::optional<Frame> frame = client.poll();
    if (!frame) break;
    left_ = frame->text && type_of(frame->bytes) == "session.end";
  }
  left_ = left_ || !client.open();
  return left_;
}

}  // namespace navtalk::server
