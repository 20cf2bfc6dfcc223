#include "server/http/http_server.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/write.hpp>
#include <list>

#include "core/base/check.h"
#include "core/base/shortage.h"
#include "core/log/error_throttle.h"
#include "core/log/log.h"
#include "core/text/number.h"
#include "server/http/as_tuple.h"
#include "server/http/connection/connections.h"
#include "server/http/connection/request_reader.h"
#include "server/http/socket/tls_identity.h"
#include "server/http/socket/web_socket_state.h"

namespace navtalk::server {
namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;

namespace {

constexpr std::chrono::milliseconds k_reserve_idle{2'000};  // until its request
constexpr std::chrono::milliseconds k_linger{1'000};
constexpr std::size_t k_linger_bytes = 256 << 10;
constexpr std::chrono::milliseconds k_accept_pause{100};  // when there is no descriptor

// How a response is written, which depends on its request.
struct WriteOptions {
  unsigned version = 11;  // of HTTP: 10 or 11
  bool keep = false;      // the connection, for another request
  bool head = false;      // the header alone, as it would stand above the body
};

http::response<http::string_body> message_of(const Response& response,
                                             const WriteOptions& options) {
  http::response<http::string_body> message;
  message.version(options.version);
  message.result(static_cast<unsigned>(response.status));
  message.set(http::field::server, "navtalk");
  if (!response.body.empty() || response.long_body)
    message.set(http::field::content_type, response.content_type);
  for (const auto& [name, value] : response.headers) message.set(name, value);
  message.body() = response.body;
  message.keep_alive(options.keep);
  message.prepare_payload();
  if (response.long_body && response.long_body->bytes) {
    message.content_length(*response.long_body->bytes);
  } else if (response.long_body) {
    message.erase(http::field::content_length);
    message.keep_alive(false);
  }
  if (options.head) message.body().clear();
  return message;
}

}  // namespace

// The coroutines keep the state alive, so that a connection may outlive the server object by the
// time that its last answer takes.
struct HttpServer::State {
  State(asio::io_context& context, const ListenAddress& address, const HttpLimits& http_limits,
        Router table, std::shared_ptr<const TlsIdentity> identity);

  static asio::awaitable<void> listen(std::shared_ptr<State> self);
  static asio::awaitable<void> serve(std::shared_ptr<State> self, Connections::Place connection);
  // These are false when the connection is to be closed.
  asio::awaitable<bool> secure(Connection& connection);
  asio::awaitable<bool> one_request(Connection& connection);
  asio::awaitable<bool> first_bytes(Connection& connection);
  asio::awaitable<bool> refuse(Connection& connection, const ReadFault& fault);
  asio::awaitable<void> linger(Connection& connection);
  asio::awaitable<void> say_goodbye(Connection& connection);
  asio::awaitable<bool> answer(Connection& connection, const BeastRequest& message,
                               Request& request);
  // A response: the request is not taken.
  asio::awaitable<std::optional<Response>> admit(const Connection& connection,
                                                 const BeastRequest& message, Request& request);
  bool keeps(const Connection& connection, const BeastRequest& message) const;
  asio::awaitable<bool> write(Connection& connection, const Response& response,
                              const WriteOptions& options);
  asio::awaitable<bool> write_pieces(Connection& connection, const LongBody& body);

  ListenAddress listen_address;
  HttpLimits limits;
  Router router;
  std::shared_ptr<const TlsIdentity> tls;
  tcp::acceptor acceptor;
  Connections connections;
  ErrorThrottleLog accept_errors{"taking connections"};
  asio::steady_timer last_closed;
  bool stopping = false;
};

HttpServer::State::State(asio::io_context& context, const ListenAddress& address,
                         const HttpLimits& http_limits, Router table,
                         std::shared_ptr<const TlsIdentity> identity)
    : listen_address(address),
      limits(http_limits),
      router(std::move(table)),
      tls(std::move(identity)),
      acceptor(context),
      connections(limits),
      last_closed(context) {
  try {
    const tcp::endpoint endpoint(asio::ip::make_address(address.host), address.port);
    acceptor.open(endpoint.protocol());
    acceptor.set_option(tcp::acceptor::reuse_address(true));
    acceptor.bind(endpoint);
    acceptor.listen();
    listen_address.port = acceptor.local_endpoint().port();
  } catch (const boost::system::system_error& error) {
    throw Error(Code::failed, "cannot listen on " + address.host + ":" +
                                  std::to_string(address.port) + ": " + error.code().message());
  }
}

asio::awaitable<bool> HttpServer::State::write(Connection& connection, const Response& response,
                                               const WriteOptions& options) {
  auto message = message_of(response, options);
  connection.tcp().expires_after(limits.write);
  const auto [failed, size] = co_await http::async_write(connection.stream, message, k_tuple);
  if (failed || options.head || !response.long_body) co_return !failed;
  co_return co_await write_pieces(connection, *response.long_body);
}

// Each piece has its own time, so a long body takes as long as it needs.
asio::awaitable<bool> HttpServer::State::write_pieces(Connection& connection,
                                                      const LongBody& body) {
  constexpr std::uint64_t k_no_end = std::numeric_limits<std::uint64_t>::max();
  for (std::uint64_t left = body.bytes.value_or(k_no_end); left > 0;) {
    const std::string piece = co_await body.next();
    if (piece.empty() || piece.size() > left) co_return false;
    connection.tcp().expires_after(limits.write);
    const auto [failed, size] =
        co_await asio::async_write(connection.stream, asio::buffer(piece), k_tuple);
    if (failed) co_return false;
    left -= piece.size();
  }
  co_return true;
}

// A peer that takes its time has a place meanwhile that others may get.
asio::awaitable<bool> HttpServer::State::secure(Connection& connection) {
  const std::shared_ptr<const TlsIdentity> identity = tls;
  if (!identity) co_return true;
  connection.tcp().expires_after(limits.handshake);
  const auto refused = co_await connection.stream.accept_tls(identity->context());
  connection.idle = false;
  co_return !refused && !connection.displaced;
}

// Waits as long as an idle connection may be kept.
asio::awaitable<bool> HttpServer::State::first_bytes(Connection& connection) {
  if (connection.buffer.size() > 0) co_return true;
  connection.idle = true;
  connection.tcp().expires_after(connection.reserve ? std::min(limits.idle, k_reserve_idle)
                                                    : limits.idle);
  const auto [gone, size] =
      co_await connection.stream.async_read_some(connection.buffer.prepare(4096), k_tuple);
  connection.idle = false;
  if (gone || connection.displaced) co_return false;
  connection.buffer.commit(size);
  co_return true;
}

asio::awaitable<bool> HttpServer::State::one_request(Connection& connection) {
  connections.waits(connection);
  if (!co_await first_bytes(connection)) co_return false;
  RequestReader reader(connection.stream, connection.buffer,
                       {.header_bytes = limits.header_bytes,
                        .body_bytes = std::max(limits.body_bytes, router.longest_body())});
  const RequestParser& parser = reader.parser();
  connection.tcp().expires_after(limits.request);
  if (const auto fault = co_await reader.read_header())
    co_return co_await refuse(connection, *fault);
  Request request = request_of(parser.message());
  request.peer = connection.peer;
  // Whoever may not ask, or asks for nothing that is there, is told so before the body is taken.
  if (const std::optional<Response> refusal =
          co_await admit(connection, parser.message(), request)) {
    const WriteOptions options{.version = parser.message().version(),
                               .keep = keeps(connection, parser.message()) && parser.complete(),
                               .head = parser.message().method() == http::verb::head};
    connection.lingers = !parser.complete();
    const bool written = co_await write(connection, *refusal, options);
    co_return options.keep ? written : false;
  }
  const bool is_long = request.body_limit > 0;
  if (const auto fault = reader.limit_body(is_long ? request.body_limit : limits.body_bytes))
    co_return co_await refuse(connection, *fault);
  std::optional<BodyPace::Limits> pace;
  if (is_long) {
    connection.tcp().expires_after(limits.long_request);
    pace = {.piece_bytes = limits.piece_bytes, .within = limits.piece};
  }
  if (const auto fault = co_await reader.read_body(pace))
    co_return co_await refuse(connection, *fault);
  if (connection.displaced) co_return false;
  connections.asks(connection);
  BeastRequest message = reader.take();
  request.body = std::move(message.body());
  co_return co_await answer(connection, message, request);
}

// A socket that is closed with bytes unread resets the connection, and the peer may lose the answer.
asio::awaitable<void> HttpServer::State::linger(Connection& connection) {
  connection.buffer.clear();
  connection.tcp().expires_after(k_linger);
  for (std::size_t left = k_linger_bytes; left > 0;) {
    const auto [gone, size] =
        co_await connection.stream.async_read_some(connection.buffer.prepare(4096), k_tuple);
    if (gone) co_return;
    left -= std::min(left, size);
  }
}

asio::awaitable<void> HttpServer::State::say_goodbye(Connection& connection) {
  const bool secured = connection.stream.tls() != nullptr;
  // What still comes would disturb the end of TLS.
  if (secured && connection.lingers) co_await linger(connection);
  connection.tcp().expires_after(k_linger);
  co_await connection.stream.end_tls();
  boost::system::error_code ignored;
  connection.tcp().socket().shutdown(tcp::socket::shutdown_send, ignored);
  if (!secured && connection.lingers) co_await linger(connection);
}

asio::awaitable<bool> HttpServer::State::refuse(Connection& connection, const ReadFault& fault) {
  const WriteOptions options;
  if (fault.refusal) {
    connection.lingers = true;
    co_await write(connection, *fault.refusal, options);
  }
  co_return false;
}

bool HttpServer::State::keeps(const Connection& connection, const BeastRequest& message) const {
  return message.keep_alive() && !stopping && !connection.reserve;
}

asio::awaitable<std::optional<Response>> HttpServer::State::admit(const Connection& connection,
                                                                  const BeastRequest& message,
                                                                  Request& request) {
  const auto target = message.target();
  if (!parse_target({target.data(), target.size()}, request))
    co_return error_response(400, "usage", "the request's path is malformed");
  if (connection.reserve && request.upgrade) {
    Response full =
        error_response(503, "no_capacity", "this server has as many connections as it may");
    full.headers.emplace_back("Retry-After", "10");
    co_return full;
  }
  co_return co_await router.refuse(request);
}

asio::awaitable<bool> HttpServer::State::answer(Connection& connection, const BeastRequest& message,
                                                Request& request) {
  Upgrade::State upgrade_state{connection.stream, message};
  Upgrade upgrade(upgrade_state);
  // A handler may take its time; only reading and writing are limited.
  connection.tcp().expires_never();
  const std::optional<Response> response = co_await router.answer(request, upgrade);
  connection.upgraded = upgrade.accepted();
  if (!response) co_return false;
  const WriteOptions options{.version = message.version(),
                             .keep = keeps(connection, message),
                             .head = message.method() == http::verb::head};
  const bool written = co_await write(connection, *response, options);
  co_return options.keep ? written : false;
}

asio::awaitable<void> HttpServer::State::serve(std::shared_ptr<State> self,
                                               Connections::Place connection) {
  try {
    bool open = co_await self->secure(*connection);
    while (open && !self->stopping) open = co_await self->one_request(*connection);
  } catch (const std::exception& problem) {
    log::error("a connection failed", {{"error", problem.what()}});
  }
  if (!connection->upgraded) {
    co_await self->say_goodbye(*connection);
  }
  self->connections.remove(connection);
  if (self->connections.empty()) self->last_closed.cancel();
}

asio::awaitable<void> HttpServer::State::listen(std::shared_ptr<State> self) {
  const auto executor = self->acceptor.get_executor();
  asio::steady_timer pause(executor);
  while (!self->stopping) {
    auto [failed, socket] = co_await self->acceptor.async_accept(k_tuple);
    if (self->stopping) break;
    if (failed) {
      self->accept_errors.failed("accept", failed.message());
      // A descriptor is free at once where one waits; otherwise open connections will end.
      if (is_shortage(failed.value()) && self->connections.make_room()) continue;
      pause.expires_after(k_accept_pause);
      co_await pause.async_wait(k_tuple);
      continue;
    }
    self->accept_errors.well("accept");
    // An answer is several writes. Held back until the client has acknowledged the first, the second would be 40 ms late.
    socket.set_option(asio::ip::tcp::no_delay(true), failed);
    if (const auto connection = self->connections.add(std::move(socket)))
      asio::co_spawn(executor, serve(self, *connection), asio::detached);
  }
}

HttpServer::HttpServer(asio::io_context& io, const ListenAddress& address, const HttpLimits& limits,
                       Router router, std::shared_ptr<const TlsIdentity> tls)
    : state_(std::make_shared<State>(io, address, limits, std::move(router), std::move(tls))) {
  asio::co_spawn(io, State::listen(state_), asio::detached);
}

HttpServer::~HttpServer() = default;

std::uint16_t HttpServer::port() const { return state_->listen_address.port; }

std::string HttpServer::url() const {
  const std::string& host = state_->listen_address.host;
  const bool six = host.find(':') != std::string::npos;
  return (state_->tls ? "https://" : "http://") + (six ? "[" + host + "]" : host) + ":" +
         std::to_string(port());
}

void HttpServer::use(std::shared_ptr<const TlsIdentity> tls) {
  NAVTALK_CHECK(state_->tls && tls);
  state_->tls = std::move(tls);
}

void HttpServer::stop() {
  state_->stopping = true;
  boost::system::error_code ignored;
  state_->acceptor.close(ignored);
  for (Connection& connection : state_->connections.all()) {
    if (connection.idle) connection.tcp().close();
  }
}

asio::awaitable<void> HttpServer::finished(std::chrono::milliseconds at_most) {
  const auto until = std::chrono::steady_clock::now() + at_most;
  while (!state_->connections.empty() && std::chrono::steady_clock::now() < until) {
    state_->last_closed.expires_at(until);
    co_await state_->last_closed.async_wait(k_tuple);
  }
}

ListenAddress parse_listen_address(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  ListenAddress address;
  boost::system::error_code bad;
  if (colon != std::string_view::npos) {
    address.host = std::string(text.substr(0, colon));
    if (address.host.size() > 2 && address.host.front() == '[' && address.host.back() == ']')
      address.host = address.host.substr(1, address.host.size() - 2);
    asio::ip::make_address(address.host, bad);
    const auto port = parse_number<decltype(address.port)>(text.substr(colon + 1));
    if (!bad && port) {
      address.port = *port;
      return address;
    }
  }
  throw Error(Code::usage, "'" + std::string(text) +
                               "' is not an address to listen on: write ADDR:PORT with a numeric "
                               "address, such as 127.0.0.1:2160");
}

bool is_loopback(const ListenAddress& address) {
  return asio::ip::make_address(address.host).is_loopback();
}

}  // namespace navtalk::server
