// The user's side of a live session: the connection, which may drop and be replaced by another one, and
// what the gateway itself says on it. Of the I/O thread.
//
//   there ── it ends without a close frame, or with any code but 1000 and 1001 ──► away ── not back in time ──► left
//     ▲ │                                                                       │
//     │ └── session.end, another close frame, or sent away ──► left             │
//     └─────────────────────────── attach() ◄───────────────────────────────────┘
//
// Before may_return() a client whose connection ends has left.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "server/gateway/access/tenants.h"
#include "server/http/signal.h"
#include "server/http/socket/web_socket.h"

namespace navtalk::server {

// One connection of a user. Whoever accepted it waits until the session needs it no more.
struct ClientConnection {
  ClientConnection(const boost::asio::any_io_executor& executor,
                   std::unique_ptr<WebSocket> accepted)
      : socket(std::move(accepted)), changed(executor) {}

  const std::unique_ptr<WebSocket> socket;
  Signal changed;
  // Held for as long as the connection is open; another one that takes its place in the session takes the seat in exchange for one
  // beyond the limit.
  std::shared_ptr<TenantSeat> seat{};
  std::function<bool()> revoked = [] { return false; };  // as that of its permit
  bool released = true;                                  // no session needs it (yet)
};

class Client {
 public:
  using Clock = Signal::Clock;

  // `look_again` is notified when there may be more to look at.
  Client(std::shared_ptr<ClientConnection> connection, Signal& look_again);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // nullptr: the client is away, or has left. What holds it keeps it alive, not open.
  const std::shared_ptr<ClientConnection>& connection() const { return connection_; }
  // Another connection takes the place and the seat of this one, which is told so and closed if it is open.
  void attach(std::shared_ptr<ClientConnection> connection);
  // From now on a client whose connection drops may come back within that time.
  void may_return(Clock::duration within) { return_within_ = within; }
  // Who is told that a frame came; the end of the connection is told to `look_again` too.
  void tell_frames(Signal& signal) { frames_ = &signal; }

  // The next frame; nullopt: none has come yet, the connection is over, or that was session.end.
  std::optional<Frame> poll();
  // As ended(), for the time in which the client has nothing to say: drops what else it sent, one frame
  // each time, so that a client that sends many holds up nobody.
  bool left();
  // Whether the client has ended the session, is gone for good, or was sent away. Once true it stays true.
  bool ended();
  // Its connection dropped, and it may come back.
  bool away() const { return away_since_.has_value() && !left_; }
  // When it has been away for too long.
  Clock::time_point leaves_at() const;
  // Was it sent away for sending too fast?
  bool refused_as_too_fast();
  // Drops the frame if the client does not read.
  void offer(Frame frame);
  // Ends a connection that is of no use, as if it had dropped.
  void cut();
  // An error frame, and the end of the connection.
  void refuse(std::string_view code, std::string_view message, std::optional<double> retry_after_s,
              CloseCode close);
  // As refuse(), with an error that somebody else has written, and its code as the reason.
  void refuse(Frame error);
  // The end of the connection, without an error.
  void close(CloseCode code, const std::string& reason);

 private:
  void release();
  void note_end();

  std::shared_ptr<ClientConnection> connection_;
  Signal& look_again_;
  Signal* frames_;
  std::optional<Clock::duration> return_within_{};
  std::optional<Clock::time_point> away_since_{};
  bool left_ = false;
};

}  // namespace navtalk::server
