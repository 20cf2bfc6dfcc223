#include "server/http/socket/web_socket_state.h"

#include <netinet/tcp.h>
#include <sys/socket.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/beast/websocket/error.hpp>
#include <boost/beast/websocket/rfc6455.hpp>
#include <utility>
#include <vector>

namespace navtalk::server {
namespace asio = boost::asio;
namespace beast = boost::beast;
namespace websocket = boost::beast::websocket;
using Clock = std::chrono::steady_clock;

namespace {

// Beast would begin and cancel a wait for an idle peer with each frame: watch_peer() has one for many.
websocket::stream_base::timeout timeouts(const SocketLimits& limits) {
  return {.handshake_timeout = limits.handshake,
          .idle_timeout = websocket::stream_base::none(),
          .keep_alive_pings = false};
}

// Memory of frames that were written, for those that are read next on the same thread: a relayed frame
// then needs none of its own.
class SpareMemory {
 public:
  std::string take() {
    if (spare_.empty()) return {};
    std::string memory = std::move(spare_.back());
    spare_.pop_back();
    return memory;
  }
  void give(std::string memory) {
    if (memory.capacity() < k_smallest || memory.capacity() > k_largest || spare_.size() >= k_most)
      return;
    memory.clear();
    spare_.push_back(std::move(memory));
  }

 private:
  static constexpr std::size_t k_smallest = 256, k_largest = 16 << 10, k_most = 64;
  std::vector<std::string> spare_;
};

thread_local SpareMemory spare_memory;

}  // namespace

WebSocket::State::State(MaybeTlsStream below, const SocketLimits& socket_limits)
    : limits(socket_limits),
      stream(std::move(below)),
      has_frame(stream.get_executor(), Clock::time_point::max()),
      has_room(stream.get_executor(), Clock::time_point::max()),
      both_ended(stream.get_executor(), Clock::time_point::max()),
      write_deadline(stream.get_executor()),
      peer_deadline(stream.get_executor()) {
  // The WebSocket layer has time limits of its own; two of them would fight.
  beast::get_lowest_layer(stream).expires_never();
  stream.set_option(timeouts(limits));
  stream.read_message_max(limits.frame_bytes);
}

void WebSocket::State::start() {
  boost::system::error_code ignored;
  auto& tcp = beast::get_lowest_layer(stream).socket();
  tcp.set_option(asio::ip::tcp::no_delay(true), ignored);
  if (limits.system_bytes > 0) {
    ::setsockopt(tcp.native_handle(), IPPROTO_TCP, TCP_NOTSENT_LOWAT, &limits.system_bytes,
                 sizeof limits.system_bytes);
  }
  stream.next_layer().end_timeouts();
  running = 2;
  if (limits.pace) {
    // A longer one could not pass in time.
    stream.read_message_max(std::min(limits.frame_bytes, limits.pace->bytes.burst));
    stream.next_layer().pace(*limits.pace, [this] {
      if (on_activity) on_activity();
    });
  }
  // The reader ends only when the peer has closed the connection below, which it may never do.
  stream.control_callback([this](websocket::frame_type type, beast::string_view) {
    if (type != websocket::frame_type::close) return;
    peer_closed = true;
    note_last_frame();
  });
  stream.next_layer().on_teardown([this] {
    end_of_frames();
    note_last_frame();
  });
  watch_peer();
  read_next();
}

void WebSocket::State::read_next() {
  reading = Frame{.bytes = spare_memory.take()};
  read_into.emplace(reading.bytes);
  stream.async_read(*read_into,
                    [self = shared_from_this()](boost::system::error_code failed, std::size_t) {
                      self->note_read(failed);
                    });
}

void WebSocket::State::note_read(boost::system::error_code failed) {
  peer_closed = peer_closed || failed == websocket::error::closed;
  if (failed || nobody_receives) return end_reading();
  reading.text = stream.got_text();
  incoming_bytes += reading.bytes.size();
  incoming.push_back(std::move(reading));
  has_frame.cancel();
  held_up = !keeps_up();
  if (!held_up) read_next();
  if (on_activity) on_activity();
}

std::optional<Frame> WebSocket::State::take() {
  if (incoming.empty()) return std::nullopt;
  std::optional<Frame> next = std::move(incoming.front());
  incoming.pop_front();
  incoming_bytes -= next->bytes.size();
  if (held_up && keeps_up()) {
    held_up = false;
    read_next();
  }
  return next;
}

void WebSocket::State::end_of_frames() {
  frames_over = true;
  has_frame.cancel();
}

void WebSocket::State::end_reading() {
  note_last_frame();
  end_writing();
  end_of_frames();
  note_end();
}

void WebSocket::State::end_receiving() {
  nobody_receives = true;
  incoming.clear();
  incoming_bytes = 0;
  end_of_frames();
  if (std::exchange(held_up, false)) end_reading();
}

void WebSocket::State::note_end() {
  if (on_activity) on_activity();
  if (--running == 0) both_ended.cancel();
}

void WebSocket::State::abort() {
  beast::get_lowest_layer(stream).close();
  stream.next_layer().read_freely();  // a paused read ends now
}

void WebSocket::State::note_last_frame() {
  if (std::exchange(read_over, true)) return;
  if (!closing_since) closing_since = Clock::now();
  watch_writes();
  if (on_activity) on_activity();
}

void WebSocket::State::end_writing() {
  write_over = true;
  has_room.cancel();
  write_next();
}

void WebSocket::State::write_next() {
  if (is_writing || writer_ended || running == 0) return;
  if (outgoing.empty()) {
    if (write_over) end_writer();
    return;
  }
  is_writing = true;
  Outgoing next = std::move(outgoing.front());
  outgoing.pop_front();
  outgoing_bytes -= next.frame.bytes.size();
  has_room.cancel();
  auto& below = stream.next_layer();
  if (next.close) {
    below.hold_back(nullptr);
    websocket::close_reason reason(static_cast<std::uint16_t>(next.close->first));
    reason.reason = next.close->second;
    stream.async_close(
        reason, [self = shared_from_this()](boost::system::error_code) { self->end_writer(); });
    return;
  }
  writing = std::move(next.frame);
  below.hold_back(outgoing.empty() ? nullptr : writing.bytes.data());
  if (!below.holds_back()) writing_since = next.since;
  write_began = Clock::now();
  watch_writes();
  stream.text(writing.text);
  stream.async_write(asio::buffer(writing.bytes),
                     [self = shared_from_this()](boost::system::error_code failed, std::size_t) {
                       self->note_written(failed);
                     });
}

void WebSocket::State::note_written(boost::system::error_code failed) {
  write_began.reset();
  spare_memory.give(std::move(writing.bytes));
  if (failed) return end_writer();
  if (!stream.next_layer().holds_back()) writing_since.reset();
  is_writing = false;
  attended.round(Clock::now());
  write_next();
}

void WebSocket::State::end_writer() {
  if (std::exchange(writer_ended, true)) return;
  end_writing();
  abort();
  note_end();
}

void WebSocket::State::push(Outgoing next) {
  attended.round(Clock::now());
  next.since = attended.passed();
  outgoing_bytes += next.frame.bytes.size();
  outgoing.push_back(std::move(next));
  if (!is_writing && !std::exchange(will_write, true)) write_after(turns_together);
}

void WebSocket::State::write_after(int turns) {
  asio::post(stream.get_executor(), [self = shared_from_this(), turns] {
    if (turns > 1) return self->write_after(turns - 1);
    self->will_write = false;
    self->write_next();
  });
}

Clock::duration WebSocket::State::unsent_for() {
  attended.round(Clock::now());
  if (writing_since) return attended.passed() - *writing_since;
  return outgoing.empty() ? Clock::duration{} : attended.passed() - outgoing.front().since;
}

void WebSocket::State::watch_writes() {
  if (watching_writes) return;
  const auto since = closing_since ? closing_since : write_began;
  if (!since) return;
  watching_writes = true;
  write_deadline.expires_at(*since + limits.write);
  write_deadline.async_wait([weak = weak_from_this()](boost::system::error_code) {
    const auto state = weak.lock();
    if (!state) return;
    state->watching_writes = false;
    const auto late = Clock::now() - state->limits.write;
    const bool slow = state->write_began && *state->write_began <= late;
    if (slow || (state->closing_since && *state->closing_since <= late)) {
      state->abort();
    } else {
      state->watch_writes();
    }
  });
}

void WebSocket::State::ping() {
  if (std::exchange(pinging, true)) return;  // one waits for a long write
  stream.async_ping(
      {}, [self = shared_from_this()](boost::system::error_code) { self->pinging = false; });
}

// What was read since the last wait began is looked at when that ends, so that a frame costs no timer.
void WebSocket::State::watch_peer() {
  const Clock::duration half = limits.idle_timeout / 2;
  const auto heard = stream.next_layer().last_read();
  const bool pinged = pinged_after == heard;
  peer_deadline.expires_at(pinged ? Clock::now() + half : heard + half);
  peer_deadline.async_wait([weak = weak_from_this(), pinged](boost::system::error_code) {
    const auto state = weak.lock();
    if (!state || state->read_over || state->closing_since) return;
    const auto last = state->stream.next_layer().last_read();
    const bool silent = Clock::now() - last >= state->limits.idle_timeout / 2;
    if (pinged && state->pinged_after == last) return state->abort();
    if (silent) {
      state->pinged_after = last;
      state->ping();
    }
    state->watch_peer();
  });
}

}  // namespace navtalk::server
