#include "server/gateway/session/client.h"

#include "server/protocol/control_frame.h"

namespace navtalk::server {
namespace {

// A close frame with another code, such as 4000, is that of a client that means to come back.
bool says_farewell(const WebSocket& socket) {
  if (!socket.peer_closed()) return false;
  const auto reason = socket.peer_close();
  if (!reason) return true;
  return reason->first == static_cast<std::uint16_t>(CloseCode::normal) ||
         reason->first == static_cast<std::uint16_t>(CloseCode::going_away);
}

}  // namespace

Client::Client(std::shared_ptr<ClientConnection> connection, Signal& look_again)
    : look_again_(look_again), frames_(&look_again) {
  attach(std::move(connection));
}

Client::~Client() { release(); }

void Client::attach(std::shared_ptr<ClientConnection> connection) {
  if (connection_) {
    WebSocket& old = *connection_->socket;
    old.offer(error_frame("superseded", "this session goes on in another connection"));
    old.close(CloseCode::normal, "superseded");
    // It may be half open for long, and counts until it is gone: as one beyond the limit.
    if (connection->seat && connection->seat->surplus())
      std::swap(connection_->seat, connection->seat);
    release();
  }
  connection_ = std::move(connection);
  connection_->released = false;
  away_since_.reset();
  connection_->socket->on_activity([this] {
    frames_->notify();
    if (!connection_->socket->open()) look_again_.notify();
  });
  frames_->notify();
  look_again_.notify();
}

void Client::release() {
  if (!connection_) return;
  connection_->socket->on_activity({});
  connection_->released = true;
  connection_->changed.notify();
  connection_.reset();
}

std::optional<Frame> Client::poll() {
  if (left_ || !connection_) return std::nullopt;
  std::optional<Frame> frame = connection_->socket->poll();
  if (frame && frame->text && type_of(frame->bytes) == frame_type::end) {
    left_ = true;
    look_again_.notify();
    return std::nullopt;
  }
  if (!frame && !connection_->socket->open()) note_end();
  return frame;
}

void Client::note_end() {
  if (return_within_ && !says_farewell(*connection_->socket)) {
    away_since_ = Clock::now();
    release();
  } else {
    left_ = true;
  }
  look_again_.notify();
}

bool Client::left() {
  if (poll()) look_again_.notify();  // there may be more
  return refused_as_too_fast() || ended();
}

bool Client::ended() {
  left_ = left_ || Clock::now() >= leaves_at();
  return left_;
}

Client::Clock::time_point Client::leaves_at() const {
  return away_since_ ? *away_since_ + *return_within_ : Clock::time_point::max();
}

bool Client::refused_as_too_fast() {
  if (left_ || !connection_ || !connection_->socket->too_fast()) return false;
  refuse(too_fast_frame());
  return true;
}

void Client::offer(Frame frame) {
  if (connection_) connection_->socket->offer(std::move(frame));
}

void Client::cut() {
  if (connection_) connection_->socket->abort();
}

void Client::refuse(std::string_view code, std::string_view message,
                    std::optional<double> retry_after_s, CloseCode close_code) {
  offer(error_frame(code, message, retry_after_s));
  close(close_code, std::string(code));
}

void Client::refuse(Frame error) {
  const std::string reason = error_code_of(error);
  offer(std::move(error));
  close(CloseCode::refused, reason);
}

void Client::close(CloseCode code, const std::string& reason) {
  left_ = true;
  if (connection_) connection_->socket->close(code, reason);
}

}  // namespace navtalk::server
