// What stands behind WebSocket and Upgrade. Private to server/: it brings Beast.
#pragma once

#include <boost/asio/experimental/channel.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/websocket/stream.hpp>
#include <deque>

#include "core/net/attended_clock.h"
#include "server/http/socket/maybe_tls_stream.h"
#include "server/http/socket/web_socket.h"

namespace navtalk::server {

// Without compression, which no frame of ours needs.
using Stream = boost::beast::websocket::stream<MaybeTlsStream, false>;
using BeastRequest = boost::beast::http::request<boost::beast::http::string_body>;

struct Outgoing {
  Frame frame{};
  std::optional<std::pair<CloseCode, std::string>> close{};  // instead of a frame
  AttendedClock::Clock::duration since{};                    // when it was queued, in attended time
};

struct WebSocket::State : std::enable_shared_from_this<WebSocket::State> {
  template <class T>
  using Channel = boost::asio::experimental::channel<void(boost::system::error_code, T)>;

  State(MaybeTlsStream below, const SocketLimits& socket_limits);
  // Starts reader and writer; after the handshake.
  void start();
  void abort();
  // The peer sends no more frames; it may still hold the connection open.
  void note_last_frame();
  // What is queued is still written, but no more comes.
  void end_writing();
  bool takes_frames() const { return !closing && !write_over; }
  bool full() const {
    return outgoing.size() >= limits.unsent_frames || outgoing_bytes >= limits.unsent_bytes;
  }
  void push(Outgoing next);
  // How long the oldest frame has waited. What the loop itself is late counts for little: until it turns, it does not
  // know what the peer has read.
  AttendedClock::Clock::duration unsent_for();
  // Ends the connection when a write takes too long, or a close does. One timer serves many writes.
  void watch_writes();

  SocketLimits limits;
  Stream stream;
  // Without a frame: the end. Closing the channel instead would lose what is still in it.
  Channel<std::optional<Frame>> incoming;
  std::deque<Outgoing> outgoing;
  std::size_t outgoing_bytes = 0;
  // Cancelled when there is something to write, or room for more, or reader and writer have ended.
  boost::asio::steady_timer has_work, has_room, both_ended;
  boost::asio::steady_timer write_deadline;
  bool watching_writes = false;  // write_deadline runs
  std::optional<std::chrono::steady_clock::time_point> write_began{}, closing_since{};
  AttendedClock attended{AttendedClock::Clock::now()};
  // Of the frame that is being written: when it was queued, in attended time.
  std::optional<AttendedClock::Clock::duration> writing_since{};
  std::function<void()> on_activity;
  int running = 0;  // of reader and writer
  bool closing = false, read_over = false, end_queued = false, end_received = false;
  bool write_over = false;
  bool peer_closed = false;
};

struct Upgrade::State {
  MaybeTlsStream& below;
  const BeastRequest& request;
  bool accepted = false;
};

}  // namespace navtalk::server
