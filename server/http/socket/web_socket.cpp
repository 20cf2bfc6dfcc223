#include <algorithm>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/beast/websocket/error.hpp>
#include <boost/beast/websocket/rfc6455.hpp>

#include "core/base/shortage.h"
#include "server/http/as_tuple.h"
#include "server/http/socket/web_socket_state.h"

namespace navtalk::server {
namespace asio = boost::asio;
namespace beast = boost::beast;
namespace websocket = boost::beast::websocket;

namespace {

// In which a picture is read that came with its sound.
constexpr int k_turns_together = 3;
// A longer frame is written in several, between which pings and pongs go out. Each costs a system call, and two at the peer.
constexpr std::size_t k_fragment_bytes = 64 << 10;

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

WebSocket::WebSocket(std::shared_ptr<State> state) : state_(std::move(state)) {}

WebSocket::~WebSocket() {
  state_->on_activity = {};
  state_->end_receiving();
  // A closing handshake that is under way is left to end by itself.
  if (state_->closing) return;
  state_->end_writing();
  state_->abort();
}

asio::awaitable<std::optional<Frame>> WebSocket::receive() {
  const std::shared_ptr<State> state = state_;
  while (state->incoming.empty() && !state->frames_over)
    co_await state->has_frame.async_wait(k_tuple);
  co_return state->take();
}

std::optional<Frame> WebSocket::poll() { return state_->take(); }

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
  // What is held back goes out with the one behind it.
  const bool first_stays = state_->stream.next_layer().needs_next() && !state_->outgoing.empty();
  auto& frames = state_->outgoing;
  const auto dropped = std::remove_if(frames.begin() + (first_stays ? 1 : 0), frames.end(),
                                      [&](const Outgoing& next) {
                                        const bool drops = !next.close && which(next.frame);
                                        if (drops)
                                          state_->outgoing_bytes -= next.frame.bytes.size();
                                        return drops;
                                      });
  frames.erase(dropped, frames.end());
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
  state_->closing_since = std::chrono::steady_clock::now();
  state_->watch_writes();
}

void WebSocket::abort() { state_->abort(); }

bool WebSocket::peer_closed() const { return state_->peer_closed; }

bool WebSocket::open() const {
  return !state_->closing && !state_->read_over && state_->running == 2;
}

asio::awaitable<void> WebSocket::finished() {
  state_->end_receiving();  // the reader must not wait for room
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
  state->turns_together = k_turns_together;
  state->stream.write_buffer_bytes(k_fragment_bytes);
  state->start();
  co_return std::make_unique<WebSocket>(state);
}

}  // namespace navtalk::server
