// A TCP stream that may carry TLS, decided after it is connected. One type for both, so that the
// WebSocket layer above exists once. Private to server/. As a Beast stream: asynchronous only, one
// thread.
#pragma once

#include <algorithm>
#include <array>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/role.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/websocket/teardown.hpp>
#include <chrono>
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

// The first buffers of a sequence that are not empty: the system is given no more than there are.
template <class Buffer>
class FewBuffers {
 public:
  using value_type = Buffer;
  using const_iterator = const Buffer*;

  FewBuffers() = default;
  template <class Buffers>
  explicit FewBuffers(const Buffers& buffers) {
    const auto end = boost::asio::buffer_sequence_end(buffers);
    for (auto at = boost::asio::buffer_sequence_begin(buffers); at != end; ++at) {
      const Buffer buffer(*at);
      if (buffer.size() == 0) continue;
      buffers_[count_++] = buffer;
      if (count_ == k_most) break;
    }
  }
  const_iterator begin() const { return buffers_.data(); }
  const_iterator end() const { return buffers_.data() + count_; }
  std::size_t size() const { return count_; }
  // Its first bytes.
  FewBuffers shortened(std::size_t bytes) const {
    FewBuffers some = *this;
    for (Buffer& buffer : some.buffers_) {
      buffer = boost::asio::buffer(buffer, bytes);
      bytes -= buffer.size();
    }
    return some;
  }
  // Another one, and then these.
  FewBuffers behind(const Buffer& first) const {
    FewBuffers all;
    all.buffers_[0] = first;
    std::copy(begin(), end(), all.buffers_.begin() + 1);
    all.count_ = count_ + 1;
    return all;
  }

 private:
  static constexpr std::size_t k_most = 8;
  std::array<Buffer, k_most + 1> buffers_{};  // and one before them
  std::size_t count_ = 0;
};

class MaybeTlsStream {
 public:
  using next_layer_type = boost::beast::tcp_stream;
  // Of one concrete type: Beast copies it several times with each frame.
  using executor_type = boost::asio::io_context::executor_type;
  using Tls = boost::asio::ssl::stream<next_layer_type&>;
  using Signature = void(boost::system::error_code, std::size_t);

  // Of a loop's own executor.
  explicit MaybeTlsStream(next_layer_type tcp);
  // While no operation is pending. What was moved from may only be destroyed.
  MaybeTlsStream(MaybeTlsStream&&) = default;
  MaybeTlsStream& operator=(MaybeTlsStream&&) = delete;

  executor_type get_executor() noexcept { return executor_; }
  next_layer_type& next_layer() noexcept { return layers_->tcp; }
  const next_layer_type& next_layer() const noexcept { return layers_->tcp; }
  Tls* tls() { return layers_->tls ? &*layers_->tls : nullptr; }

  // From now on whoever uses the stream has time limits of his own, and those of the TCP stream are unused.
  void end_timeouts() { timeouts_ = false; }
  // The write of which `payload` is a part, as long as it is short, need not go out before the next one of its kind, which
  // must follow: one system call then serves both. Control frames that come between wait for nothing, and what was
  // held back goes out before them. nullptr: no write may wait.
  void hold_back(const void* payload) { may_wait_ = payload; }
  // Something was held back and waits for what is written next.
  bool holds_back() const { return !held_back_.empty(); }
  // As holds_back(), or the write under way may still be held back.
  bool needs_next() const { return may_wait_ != nullptr || holds_back(); }
  // When a reading from the peer last began: with a peer that sends, at once after its bytes came.
  std::chrono::steady_clock::time_point last_read() const { return last_read_; }
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
        token, MutableBuffers(buffers));
  }

  template <class Buffers, class Token>
  auto async_write_some(const Buffers& buffers, Token&& token) ->
      typename boost::asio::async_result<std::decay_t<Token>, Signature>::return_type {
    return boost::asio::async_initiate<Token, Signature>(
        [this](auto handler, const ConstBuffers& from) {
          write_some(from, SomeDone(std::move(handler)));
        },
        token, ConstBuffers(buffers));
  }

  // How Beast ends the layer below a WebSocket.
  using TeardownDone = Completion<boost::system::error_code>;
  void end(boost::beast::role_type role, TeardownDone done);

 private:
  using SomeDone = Completion<boost::system::error_code, std::size_t>;
  // An operation may do less than it was asked for.
  using MutableBuffers = FewBuffers<boost::asio::mutable_buffer>;
  using ConstBuffers = FewBuffers<boost::asio::const_buffer>;

  void read_some(const MutableBuffers& into, SomeDone done);
  void read_paced(const MutableBuffers& into, SomeDone done);
  void read_now(const MutableBuffers& into, SomeDone done);
  void write_some(const ConstBuffers& from, SomeDone done);
  void write_now(const ConstBuffers& from, SomeDone done);
  void write_held_back(const ConstBuffers& last, SomeDone done);
  bool may_wait(const ConstBuffers& from) const;

  // On the heap, because the TLS layer refers to the other one.
  struct Layers {
    explicit Layers(next_layer_type stream) : tcp(std::move(stream)) {}
    next_layer_type tcp;
    std::optional<Tls> tls{};
  };
  std::unique_ptr<Layers> layers_;
  std::optional<ReadPace> pace_{};
  std::function<void()> on_too_fast_{}, on_teardown_{};
  executor_type executor_;
  boost::asio::steady_timer pause_;  // of a paced read
  std::chrono::steady_clock::time_point last_read_ = std::chrono::steady_clock::now();
  std::string held_back_{}, going_out_{};  // the second one is being written
  const void* may_wait_ = nullptr;
  bool timeouts_ = true;
};

// Beast finds this by the stream's type.
template <class Handler>
void async_teardown(boost::beast::role_type role, MaybeTlsStream& stream, Handler&& handler) {
  stream.end(role, MaybeTlsStream::TeardownDone(std::forward<Handler>(handler)));
}

}  // namespace navtalk::server
