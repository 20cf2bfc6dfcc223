// A TCP stream that may carry TLS, decided after it is connected. One type for both, so that the
// WebSocket layer above exists once. Private to server/. As a Beast stream: asynchronous only, one
// thread.
#pragma once

#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/beast/core/role.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/websocket/teardown.hpp>
#include <optional>
#include <string>

namespace navtalk::server {

class MaybeTlsStream {
 public:
  using next_layer_type = boost::beast::tcp_stream;
  using executor_type = next_layer_type::executor_type;
  using Tls = boost::asio::ssl::stream<next_layer_type&>;
  using Signature = void(boost::system::error_code, std::size_t);

  explicit MaybeTlsStream(next_layer_type tcp) : tcp_(std::move(tcp)) {}
  MaybeTlsStream(const MaybeTlsStream&) = delete;  // the TLS layer refers to tcp_
  MaybeTlsStream& operator=(const MaybeTlsStream&) = delete;

  executor_type get_executor() noexcept { return tcp_.get_executor(); }
  next_layer_type& next_layer() noexcept { return tcp_; }
  const next_layer_type& next_layer() const noexcept { return tcp_; }
  Tls* tls() { return tls_ ? &*tls_ : nullptr; }

  // As a client, with the system's trust: the peer's certificate must be valid for `host`.
  boost::asio::awaitable<boost::system::error_code> start_tls(std::string host);

  template <class Buffers, class Token>
  auto async_read_some(const Buffers& buffers, Token&& token) ->
      typename boost::asio::async_result<std::decay_t<Token>, Signature>::return_type {
    return boost::asio::async_initiate<Token, Signature>(
        [this](auto handler, const Buffers& into) {
          if (tls_) {
            tls_->async_read_some(into, std::move(handler));
          } else {
            tcp_.async_read_some(into, std::move(handler));
          }
        },
        token, buffers);
  }

  template <class Buffers, class Token>
  auto async_write_some(const Buffers& buffers, Token&& token) ->
      typename boost::asio::async_result<std::decay_t<Token>, Signature>::return_type {
    return boost::asio::async_initiate<Token, Signature>(
        [this](auto handler, const Buffers& from) {
          if (tls_) {
            tls_->async_write_some(from, std::move(handler));
          } else {
            tcp_.async_write_some(from, std::move(handler));
          }
        },
        token, buffers);
  }

 private:
  next_layer_type tcp_;
  std::optional<Tls> tls_{};
};

// How Beast ends the layer below a WebSocket; found by the stream's type.
template <class Handler>
void async_teardown(boost::beast::role_type role, MaybeTlsStream& stream, Handler&& handler) {
  if (stream.tls() != nullptr) {
    stream.tls()->async_shutdown(std::forward<Handler>(handler));
  } else {
    using boost::beast::websocket::async_teardown;
    async_teardown(role, stream.next_layer(), std::forward<Handler>(handler));
  }
}

}  // namespace navtalk::server
