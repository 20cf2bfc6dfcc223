// The user's side of a live session: the socket, and what the gateway itself says on it. Of the I/O
// thread; the socket outlives it.
#pragma once

#include <optional>
#include <string_view>

#include "server/http/web_socket.h"

namespace navtalk::server {

class Client {
 public:
  explicit Client(WebSocket& socket) : socket_(socket) {}

  WebSocket& socket() { return socket_; }
  // Whether the client has ended the session, or is gone. Drops whatever else it sent: for the time
  // before session.ready. Once true it stays true.
  bool left();
  // Drops the frame if the client does not read.
  void offer(Frame frame);
  // An error frame, and the end of the connection.
  void refuse(std::string_view code, std::string_view message, std::optional<double> retry_after_s,
              CloseCode close);
  // As refuse(), with an error that somebody else has written.
  void refuse(Frame error, std::string_view reason);

 private:
  WebSocket& socket_;
  bool left_ = false;
};

}  // namespace navtalk::server
