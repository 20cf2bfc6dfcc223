// What stands behind WebSocket and Upgrade. Private to server/: it brings Beast.
#pragma once

#include <boost/asio/buffer.hpp>
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
  // Reading, one frame after the other. It waits while more than `queue_frames`, or `queue_bytes`, have come that nobody has taken.
  void read_next();
  void note_read(boost::system::error_code failed);
  bool keeps_up() const {
    return incoming.size() <= limits.queue_frames && incoming_bytes < limits.queue_bytes;
  }
  std::optional<Frame> take();
  void end_of_frames();
  void end_reading();
  // Nobody takes frames any more.
  void end_receiving();
  // Writing, one frame after the other, until the close frame or an error.
  void write_after(int turns);
  void write_next();
  void note_written(boost::system::error_code failed);
  void end_writer();
  // Of the reader or the writer.
  void note_end();
  // Pings a peer that was silent for half of the idle time, and ends the connection when that brings no answer.
  void watch_peer();
  void ping();
  // How long the oldest frame has waited. What the loop itself is late counts for little: until it turns, it does not
  // know what the peer has read.
  AttendedClock::Clock::duration unsent_for();
  // Ends the connection when a write takes too long, or a close does. One timer serves many writes.
  void watch_writes();

  SocketLimits limits;
  Stream stream;
  std::deque<Frame> incoming;
  std::deque<Outgoing> outgoing;
  std::size_t incoming_bytes = 0, outgoing_bytes = 0;
  // For so many turns of the loop an idle connection waits for more frames before it writes the first one: what comes
  // together goes out together.
  int turns_together = 1;
  Frame reading{}, writing{};  // those under way
  std::optional<
      boost::asio::dynamic_string_buffer<char, std::char_traits<char>, std::allocator<char>>>
      read_into{};
  // Cancelled when a frame or the end of them came, there is room for more, or reader and writer have ended.
  boost::asio::steady_timer has_frame, has_room, both_ended;
  boost::asio::steady_timer write_deadline, peer_deadline;
  bool watching_writes = false;  // write_deadline runs
  std::optional<std::chrono::steady_clock::time_point> write_began{}, closing_since{};
  std::optional<std::chrono::steady_clock::time_point>
      pinged_after{};    // the last reading before the ping
  bool pinging = false;  // it is not written yet
  AttendedClock attended{AttendedClock::Clock::now()};
  // Of the frame that is being written: when it was queued, in attended time.
  std::optional<AttendedClock::Clock::duration> writing_since{};
  std::function<void()> on_activity;
  int running = 0;  // of reader and writer
  bool closing = false, read_over = false, frames_over = false, nobody_receives = false;
  bool held_up = false;  // the reader waits for room
  bool will_write = false, is_writing = false, write_over = false, writer_ended = false;
  bool peer_closed = false;
};

struct Upgrade::State {
  MaybeTlsStream& below;
  const BeastRequest& request;
  bool accepted = false;
};

}  // namespace navtalk::server
