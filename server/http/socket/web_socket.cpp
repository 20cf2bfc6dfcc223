#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/beast/websocket/error.hpp>
#include <boost/beast/websocket/rfc6455.hpp>
#include <tuple>

#include "core/base/shortage.h"
#include "server/http/as_tuple.h"
#include "server/http/socket/web_socket_state.h"

namespace navtalk::server {
namespace asio = boost::asio;
namespace beast = boost::beast;
namespace websocket = boost::beast::websocket;
using Clock = std::chrono::steady_clock;

namespace {

// Beast pings after half of the idle time.
websocket::stream_base::timeout timeouts(const SocketLimits& limits) {
  return {.handshake_timeout = limits.handshake,
          .idle_timeout = limits.idle_timeout,
          .keep_alive_pings = true};
}

// Without the default port, which some proxies do not expect.
std::string host_header(const WebSocket::Address& address) {
  if (address.port == (address.tls ? "443" : "80")) return address.host;
  return address.host + ":" + address.port;
}

// As resolvers and certificates have it: an IPv6 address stands in brackets in URLs and headers alone.
std::string without_brackets(const std::string& host) {
  const bool six = host.size() > 2 && host.front() == '[' && host.back() == ']';
  return six ? host.substr(1, host.size() - 2) : host;
}

// In this order: close() alone would leave coroutines that wait for room waiting for ever.
template <class Channel>
void end(Channel& channel) {
  channel.cancel();
  channel.close();
}

void one_ended(WebSocket::State& state) {
  if (state.on_activity) state.on_activity();
  if (--state.running == 0) state.both_ended.cancel();
}

asio::awaitable<void> read_all(std::shared_ptr<WebSocket::State> state) {
  for (;;) {
    std::optional<Frame> frame(std::in_place);
    auto buffer = asio::dynamic_buffer(frame->bytes);
    const auto [failed, size] = co_await state->stream.async_read(buffer, k_tuple);
    state->peer_closed = state->peer_closed || failed == websocket::error::closed;
    if (failed) break;
    frame->text = state->stream.got_text();
    const auto [closed] =
        co_await state->incoming.async_send(boost::system::error_code(), std::move(frame), k_tuple);
    if (closed) break;
    if (state->on_activity) state->on_activity();
  }
  state->note_last_frame();
  state->end_writing();
  // Behind what was read before; for those who still receive.
  std::optional<Frame> none;
  if (!state->end_queued)
    co_await state->incoming.async_send(boost::system::error_code(), std::move(none), k_tuple);
  one_ended(*state);
}

// False when the connection is broken.
asio::awaitable<bool> write(const std::shared_ptr<WebSocket::State>& state, const Frame& frame) {
  state->write_began = Clock::now();
  state->watch_writes();
  state->stream.text(frame.text);
  const auto [failed, size] =
      co_await state->stream.async_write(asio::buffer(frame.bytes), k_tuple);
  state->write_began.reset();
  co_return !failed;
}

asio::awaitable<void> write_all(std::shared_ptr<WebSocket::State> state) {
  for (;;) {
    if (state->outgoing.empty()) {
      if (state->write_over) break;
      co_await state->has_work.async_wait(k_tuple);
      continue;
    }
    const Outgoing next = std::move(state->outgoing.front());
    state->outgoing.pop_front();
    state->outgoing_bytes -= next.frame.bytes.size();
    state->has_room.cancel();
    if (next.close) {
      websocket::close_reason reason(static_cast<std::uint16_t>(next.close->first));
      reason.reason = next.close->second;
      co_await state->stream.async_close(reason, k_tuple);
      break;
    }
    state->writing_since = next.since;
    if (!co_await write(state, next.frame)) break;
    state->writing_since.reset();
    state->attended.round(Clock::now());
  }
  state->end_writing();
  state->abort();
  one_ended(*state);
}

// By hand, because the connect of a whole range does not say why no socket could be opened.
asio::awaitable<boost::system::error_code> reach(
    beast::tcp_stream& tcp, const asio::ip::tcp::resolver::results_type& endpoints) {
  boost::system::error_code failed = asio::error::not_found;
  for (const auto& entry : endpoints) {
    tcp.socket().close(failed);
    tcp.socket().open(entry.endpoint().protocol(), failed);
    if (failed) continue;
    std::tie(failed) = co_await tcp.async_connect(entry.endpoint(), k_tuple);
    if (!failed || failed == beast::error::timeout) break;
  }
  co_return failed;
}

// The names of a server, and whom TLS trusts, are in files: who can open none of them gets another
// error for that.
WebSocket::Declined undone(const std::string& what, boost::system::error_code why,
                           bool reads_files) {
  const bool system = why.category() == boost::system::system_category();
  return {
      .message = what + ": " + why.message(),
      .shortage = (system && is_shortage(why.value())) || (reads_files && out_of_descriptors())};
}

}  // namespace

WebSocket::State::State(MaybeTlsStream below, const SocketLimits& socket_limits)
    : limits(socket_limits),
      stream(std::move(below)),
      incoming(stream.get_executor(), limits.queue_frames),
      has_work(stream.get_executor(), Clock::time_point::max()),
      has_room(stream.get_executor(), Clock::time_point::max()),
      both_ended(stream.get_executor(), Clock::time_point::max()),
      write_deadline(stream.get_executor()) {
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
    end_queued = incoming.try_send(boost::system::error_code(), std::optional<Frame>());
    note_last_frame();
  });
  asio::co_spawn(stream.get_executor(), read_all(shared_from_this()), asio::detached);
  asio::co_spawn(stream.get_executor(), write_all(shared_from_this()), asio::detached);
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
  has_work.cancel();
  has_room.cancel();
}

void WebSocket::State::push(Outgoing next) {
  attended.round(Clock::now());
  next.since = attended.passed();
  outgoing_bytes += next.frame.bytes.size();
  outgoing.push_back(std::move(next));
  has_work.cancel();
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

WebSocket::WebSocket(std::shared_ptr<State> state) : state_(std::move(state)) {}

WebSocket::~WebSocket() {
  state_->on_activity = {};
  end(state_->incoming);
  // A closing handshake that is under way is left to end by itself.
  if (state_->closing) return;
  state_->end_writing();
  state_->abort();
}

asio::awaitable<std::optional<Frame>> WebSocket::receive() {
  if (state_->end_received) co_return std::nullopt;
  auto [closed, frame] = co_await state_->incoming.async_receive(k_tuple);
  state_->end_received = closed || !frame;
  if (closed) co_return std::nullopt;
  co_return std::move(frame);
}

std::optional<Frame> WebSocket::poll() {
  std::optional<Frame> next;
  if (state_->end_received) return next;
  state_->incoming.try_receive([&](boost::system::error_code closed, std::optional<Frame> frame) {
    state_->end_received = closed || !frame;
    if (!closed) next = std::move(frame);
  });
  return next;
}

void WebSocket::read_freely() {
  state_->stream.read_message_max(state_->limits.frame_bytes);
  state_->stream.next_layer().read_freely();
}

bool WebSocket::too_fast() const { return state_->stream.next_layer().too_fast(); }

void WebSocket::on_activity(std::function<void()> callback) {
  state_->on_activity = std::move(callback);
}

std::optional<std::pair<std::uint16_t, std::string>> WebSocket::peer_close() const {
  const websocket::close_reason& reason = state_->stream.reason();
  if (reason.code == websocket::close_code::none) return std::nullopt;
  return std::pair(reason.code, std::string(reason.reason.data(), reason.reason.size()));
}

asio::awaitable<bool> WebSocket::send(Frame frame) {
  const std::shared_ptr<State> state = state_;
  while (state->takes_frames() && state->full()) co_await state->has_room.async_wait(k_tuple);
  if (!state->takes_frames()) co_return false;
  state->push({.frame = std::move(frame)});
  co_return true;
}

bool WebSocket::offer(Frame frame) {
  if (!state_->takes_frames() || state_->full()) return false;
  state_->push({.frame = std::move(frame)});
  return true;
}

std::chrono::steady_clock::duration WebSocket::unsent_for() const { return state_->unsent_for(); }

void WebSocket::drop_unsent(const std::function<bool(const Frame&)>& which) {
  std::erase_if(state_->outgoing, [&](const Outgoing& next) {
    const bool dropped = !next.close && which(next.frame);
    if (dropped) state_->outgoing_bytes -= next.frame.bytes.size();
    return dropped;
  });
  state_->has_room.cancel();
}

void WebSocket::close(CloseCode code, std::string reason) {
  if (std::exchange(state_->closing, true)) return;
  state_->has_room.cancel();  // nobody sends any more
  // A close frame holds at most 123 bytes of reason.
  if (reason.size() > 120) reason.resize(120);
  Outgoing last;
  last.close.emplace(code, std::move(reason));
  // With a full queue the peer does not read: nothing is left to be polite about.
  if (state_->full()) return state_->abort();
  state_->push(std::move(last));
  state_->closing_since = Clock::now();
  state_->watch_writes();
}

void WebSocket::abort() { state_->abort(); }

bool WebSocket::peer_closed() const { return state_->peer_closed; }

bool WebSocket::open() const {
  return !state_->closing && !state_->read_over && state_->running == 2;
}

asio::awaitable<void> WebSocket::finished() {
  end(state_->incoming);  // nobody receives any more: the reader must not wait for room
  while (state_->running > 0) co_await state_->both_ended.async_wait(k_tuple);
}

asio::awaitable<std::unique_ptr<WebSocket>> WebSocket::connect(const Address& address,
                                                               const SocketLimits& limits,
                                                               Declined& declined) {
  const auto executor = co_await asio::this_coro::executor;
  const std::string host = without_brackets(address.host);
  asio::ip::tcp::resolver resolver(executor);
  const auto [unknown, endpoints] = co_await resolver.async_resolve(host, address.port, k_tuple);
  if (unknown) {
    declined = undone("cannot resolve " + address.host, unknown, true);
    co_return nullptr;
  }
  beast::tcp_stream tcp(executor);
  tcp.expires_after(limits.handshake);
  if (const auto unreached = co_await reach(tcp, endpoints)) {
    declined = undone("cannot connect to " + address.host + ":" + address.port, unreached, false);
    co_return nullptr;
  }
  auto state = std::make_shared<State>(MaybeTlsStream(std::move(tcp)), limits);
  if (address.tls) {
    beast::get_lowest_layer(state->stream).expires_after(limits.handshake);
    const auto untrusted = co_await state->stream.next_layer().start_tls(host);
    beast::get_lowest_layer(state->stream).expires_never();
    if (untrusted) {
      declined = undone("no TLS with " + address.host, untrusted, true);
      co_return nullptr;
    }
  }
  state->stream.set_option(websocket::stream_base::decorator([&](websocket::request_type& request) {
    for (const auto& [name, value] : address.headers) request.set(name, value);
  }));
  websocket::response_type answer;
  const auto [refused] =
      co_await state->stream.async_handshake(answer, host_header(address), address.target, k_tuple);
  // Whoever ends the connection instead of answering refuses nothing: the answer is as it was made, with status 500.
  if (refused &&
      refused.category() != make_error_code(websocket::error::upgrade_declined).category()) {
    declined = undone("no answer from " + address.host + ":" + address.port, refused, false);
    co_return nullptr;
  }
  if (refused) {
    declined.status = static_cast<int>(answer.result_int());
    declined.message = answer.body().empty() ? refused.message() : answer.body();
    co_return nullptr;
  }
  state->start();
  co_return std::make_unique<WebSocket>(state);
}

bool Upgrade::accepted() const { return state_.accepted; }

asio::awaitable<std::unique_ptr<WebSocket>> Upgrade::accept(const SocketLimits& limits,
                                                            const NamedValues& headers) {
  state_.accepted = true;
  auto state = std::make_shared<WebSocket::State>(std::move(state_.below), limits);
  state->stream.set_option(websocket::stream_base::decorator([&](websocket::response_type& answer) {
    for (const auto& [name, value] : headers) answer.set(name, value);
  }));
  const auto [failed] = co_await state->stream.async_accept(state_.request, k_tuple);
  if (failed) co_return nullptr;
  state->start();
  co_return std::make_unique<WebSocket>(state);
}

}  // namespace navtalk::server
