#include "server/gateway/session/client.h"

#include "server/protocol/control_frame.h"

namespace navtalk::server {

bool Client::left() {
  if (left_) return true;
  if (const std::optional<Frame> frame = socket_.poll()) {
    left_ = frame->text && type_of(frame->bytes) == frame_type::end;
    look_again_.notify();
  }
  left_ = left_ || refused_as_too_fast() || !socket_.open();
  return left_;
}

bool Client::refused_as_too_fast() {
  if (!socket_.too_fast()) return false;
  refuse("too_fast", "this client sends more than it may before its session starts", {},
         CloseCode::refused);
  return true;
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
