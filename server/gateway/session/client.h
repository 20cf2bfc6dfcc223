// The user's side of a live session: the socket, and what the gateway itself says on it. Of the I/O
// thread; the socket outlives it.
#pragma once

#include <optional>
#include <string_view>

#include "server/http/signal.h"
#include "server/http/socket/web_socket.h"

namespace navtalk::server {

class Client {
 public:
  // `look_again` is notified when there may be more to look at.
  Client(WebSocket& socket, Signal& look_again) : socket_(socket), look_again_(look_again) {}

  WebSocket& socket() { return socket_; }
  // Whether the client has ended the session, is gone, or was sent away for sending too fast. Drops
  // whatever else it sent, one frame each time, so that a client that sends many holds up nobody: for
  // the time before session.ready. Once true it stays true.
  bool left();
  // Was it sent away for sending too fast?
  bool refused_as_too_fast();
  // Drops the frame if the client does not read.
  void offer(Frame frame);
  // An error frame, and the end of the connection.
  void refuse(std::string_view code, std::string_view message, std::optional<double> retry_after_s,
              CloseCode close);
  // As refuse(), with an error that somebody else has written.
  void refuse(Frame error, std::string_view reason);

 private:
  WebSocket& socket_;
  Signal& look_again_;
  bool left_ = false;
};

}  // namespace navtalk::server
