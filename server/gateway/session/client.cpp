#include "server/gateway/session/client.h"

#include "server/protocol/control_frame.h"

namespace navtalk::server {

bool Client::left() {
  while (!left_) {
    const std::optional<Frame> frame = socket_.poll();
    if (!frame) break;
    left_ = frame->text && type_of(frame->bytes) == frame_type::end;
  }
  left_ = left_ || !socket_.open();
  return left_;
}

void Client::offer(Frame frame) { socket_.offer(std::move(frame)); }

void Client::refuse(std::string_view code, std::string_view message,
                    std::optional<double> retry_after_s, CloseCode close) {
  socket_.offer(error_frame(code, message, retry_after_s));
  socket_.close(close, std::string(code));
}

void Client::refuse(Frame error, std::string_view reason) {
  socket_.offer(std::move(error));
  socket_.close(CloseCode::refused, std::string(reason));
}

}  // namespace navtalk::server
