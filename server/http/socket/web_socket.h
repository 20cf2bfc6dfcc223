// One WebSocket connection, of either end, as a coroutine uses it: receive() and send(), with
// bounded queues between them and the network. A reader and a writer of its own serve it, so that
// abandoning a receive() loses no frame. A peer that was silent for 20 s is pinged; one that
// stays silent for 40 s counts as gone; a frame that cannot be written within 20 s ends the
// connection. Used from one I/O thread only; destroying it ends the connection at once.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "server/http/message.h"
#include "server/http/socket/frame.h"
#include "server/http/socket/read_pace.h"

namespace navtalk::server {

struct SocketLimits {
  std::size_t frame_bytes = 1 << 20;
  // That came and were not received yet. Nothing more is read while there are more frames, or as many bytes: the peer has to wait.
  std::size_t queue_frames = 32, queue_bytes = 1 << 20;
  // That are not written yet: at most so many, and no more once there are so many bytes.
  std::size_t unsent_frames = 32, unsent_bytes = 32 << 20;
  // The system takes no more than this beyond what it has sent, so that what the peer does not read is
  // known here; 0: as much as it likes.
  int system_bytes = 0;
  std::chrono::milliseconds idle_timeout{40'000}, write{20'000}, handshake{10'000};
  // Of reading, until read_freely(). Until then a frame has no more bytes than its burst.
  std::optional<PaceLimits> pace{};
};

enum class CloseCode : std::uint16_t {
  normal = 1000,
  going_away = 1001,
  refused = 1008,  // a rule was broken
  failed = 1011,
  try_again = 1013,
};

class WebSocket {
 public:
  struct Address {
    std::string host{};  // as in a URL: IPv6 in brackets
    std::string port{};
    std::string target{};
    NamedValues headers{};
    bool tls = false;  // with the system's trust
  };
  struct Declined {
    int status = 0;  // 0: no HTTP answer at all
    std::string message{};
    bool shortage = false;  // this process lacked a descriptor or a port: the server was not asked
  };
  // Opens one to a server. nullptr when that fails; `declined` says why.
  static boost::asio::awaitable<std::unique_ptr<WebSocket>> connect(const Address& address,
                                                                    const SocketLimits& limits,
                                                                    Declined& declined);
  struct State;
  explicit WebSocket(std::shared_ptr<State> state);
  ~WebSocket();
  WebSocket(const WebSocket&) = delete;
  WebSocket& operator=(const WebSocket&) = delete;

  // The next frame; nullopt once the peer closed, is gone or broke the protocol.
  boost::asio::awaitable<std::optional<Frame>> receive();
  // The same without waiting; nullopt also when no frame has come yet.
  std::optional<Frame> poll();
  void read_freely();
  // The peer stayed beyond the pace. Its connection is still open, and hardly read any more.
  bool too_fast() const;
  // Called whenever a frame came, the peer is too fast, or the connection ended, until the WebSocket is destroyed.
  void on_activity(std::function<void()> callback);
  // Waits for room in the queue; false when the connection is over.
  boost::asio::awaitable<bool> send(Frame frame);
  // As send, but drops the frame when there is no room; false then.
  bool offer(Frame frame);
  // How long the oldest frame has waited that is not written yet; 0: there is none. Where nobody sends or asks meanwhile, a
  // fifth of a second counts at most: a program that stood still does not blame its peer.
  std::chrono::steady_clock::duration unsent_for() const;
  // Forgets those that are not written yet, except for one that has begun, and the one behind it where both may go out together.
  void drop_unsent(const std::function<bool(const Frame&)>& which);
  // Sends what is queued, then closes. receive() ends when the peer agreed, or after a bound.
  void close(CloseCode code, std::string reason);
  // Ends the connection without a word.
  void abort();
  bool open() const;
  // The peer ended it with a close frame; it did not just go away.
  bool peer_closed() const;
  // How the peer ended it; nullopt when it gave no code, just went away, or is still there.
  std::optional<std::pair<std::uint16_t, std::string>> peer_close() const;
  // Completes when everything is written and the connection is over; nothing is received any more.
  boost::asio::awaitable<void> finished();

 private:
  std::shared_ptr<State> state_;
};

// A client's request to make its connection a WebSocket; the handler may still refuse.
class Upgrade {
 public:
  struct State;
  explicit Upgrade(State& state) : state_(state) {}
  // nullptr when the handshake fails.
  boost::asio::awaitable<std::unique_ptr<WebSocket>> accept(const SocketLimits& limits,
                                                            const NamedValues& headers = {});
  bool accepted() const;

 private:
  State& state_;
};

}  // namespace navtalk::server
