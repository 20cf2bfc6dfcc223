// A TCP stream that may carry TLS, decided after it is connected. One type for both, so that the
// WebSocket layer above exists once. Private to server/. As a Beast stream: asynchronous only, one
// thread.
#pragma once

#include <array>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/role.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/websocket/teardown.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "server/http/socket/read_pace.h"

namespace navtalk::server {

// Any handler that takes these arguments. Move-only.
template <class... Arguments>
class Completion {
 public:
  template <class Handler>
  explicit Completion(Handler handler) : held_(new Of<Handler>(std::move(handler))) {}
  void operator()(Arguments... arguments) { held_->complete(arguments...); }

 private:
  struct Held {
    virtual ~Held() = default;
    virtual void complete(Arguments... arguments) = 0;
  };
  template <class Handler>
  struct Of : Held {
    explicit Of(Handler given) : handler(std::move(given)) {}
    void complete(Arguments... arguments) override { std::move(handler)(arguments...); }
    Handler handler;
  };
  std::unique_ptr<Held> held_;
};

class MaybeTlsStream {
 public:
  using next_layer_type = boost::beast::tcp_stream;
  using executor_type = next_layer_type::executor_type;
  using Tls = boost::asio::ssl::stream<next_layer_type&>;
  using Signature = void(boost::system::error_code, std::size_t);

  explicit MaybeTlsStream(next_layer_type tcp)
      : layers_(std::make_unique<Layers>(std::move(tcp))), pause_(layers_->tcp.get_executor()) {}
  // While no operation is pending. What was moved from may only be destroyed.
  MaybeTlsStream(MaybeTlsStream&&) = default;
  MaybeTlsStream& operator=(MaybeTlsStream&&) = delete;

  executor_type get_executor() noexcept { return layers_->tcp.get_executor(); }
  next_layer_type& next_layer() noexcept { return layers_->tcp; }
  const next_layer_type& next_layer() const noexcept { return layers_->tcp; }
  Tls* tls() { return layers_->tls ? &*layers_->tls : nullptr; }

  // From now on whatever is read, of frames and beside them, keeps to that pace; `too_fast` is called
  // once when the peer does not.
  void pace(const PaceLimits& limits, std::function<void()> too_fast);
  void read_freely();
  bool too_fast() const { return pace_ && pace_->too_fast(); }
  // `begins`: called once the WebSocket layer has said its last word and waits for the peer to end the
  // connection.
  void on_teardown(std::function<void()> begins) { on_teardown_ = std::move(begins); }

  // As a client, with the system's trust: the peer's certificate must be valid for `host`.
  boost::asio::awaitable<boost::system::error_code> start_tls(std::string host);
  // As a server.
  boost::asio::awaitable<boost::system::error_code> accept_tls(boost::asio::ssl::context& context);
  // Tells the peer that nothing more comes; without TLS nothing.
  boost::asio::awaitable<void> end_tls();

  // Beast calls these with dozens of types of buffers and handlers. Behind them stands one function
  // each, so that TCP and TLS are compiled once.
  template <class Buffers, class Token>
  auto async_read_some(const Buffers& buffers, Token&& token) ->
      typename boost::asio::async_result<std::decay_t<Token>, Signature>::return_type {
    return boost::asio::async_initiate<Token, Signature>(
        [this](auto handler, const MutableBuffers& into) {
          read_some(into, SomeDone(std::move(handler)));
        },
        token, first_of<MutableBuffers>(buffers));
  }

  template <class Buffers, class Token>
  auto async_write_some(const Buffers& buffers, Token&& token) ->
      typename boost::asio::async_result<std::decay_t<Token>, Signature>::return_type {
    return boost::asio::async_initiate<Token, Signature>(
        [this](auto handler, const ConstBuffers& from) {
          write_some(from, SomeDone(std::move(handler)));
        },
        token, first_of<ConstBuffers>(buffers));
  }

  // How Beast ends the layer below a WebSocket.
  using TeardownDone = Completion<boost::system::error_code>;
  void end(boost::beast::role_type role, TeardownDone done);

 private:
  using SomeDone = Completion<boost::system::error_code, std::size_t>;
  using MutableBuffers = std::array<boost::asio::mutable_buffer, 8>;
  using ConstBuffers = std::array<boost::asio::const_buffer, 8>;

  // The first buffers that are not empty: an operation may do less than it was asked for.
  template <class Some, class Buffers>
  static Some first_of(const Buffers& buffers) {
    Some some{};
    std::size_t count = 0;
    const auto end = boost::asio::buffer_sequence_end(buffers);
    for (auto at = boost::asio::buffer_sequence_begin(buffers); at != end; ++at) {
      const typename Some::value_type buffer(*at);
      if (buffer.size() == 0) continue;
      some[count++] = buffer;
      if (count == some.size()) break;
    }
    return some;
  }
  void read_some(const MutableBuffers& into, SomeDone done);
  void read_paced(const MutableBuffers& into, SomeDone done);
  void read_now(const MutableBuffers& into, SomeDone done);
  void write_some(const ConstBuffers& from, SomeDone done);

  // On the heap, because the TLS layer refers to the other one.
  struct Layers {
    explicit Layers(next_layer_type stream) : tcp(std::move(stream)) {}
    next_layer_type tcp;
    std::optional<Tls> tls{};
  };
  std::unique_ptr<Layers> layers_;
  std::optional<ReadPace> pace_{};
  std::function<void()> on_too_fast_{}, on_teardown_{};
  boost::asio::steady_timer pause_;  // of a paced read
};

// Beast finds this by the stream's type.
template <class Handler>
void async_teardown(boost::beast::role_type role, MaybeTlsStream& stream, Handler&& handler) {
  stream.end(role, MaybeTlsStream::TeardownDone(std::forward<Handler>(handler)));
}

}  // namespace navtalk::server
