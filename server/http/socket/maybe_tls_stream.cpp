#include "server/http/socket/maybe_tls_stream.h"

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/write.hpp>

#include "core/base/check.h"
#include "server/http/as_tuple.h"

namespace navtalk::server {
namespace asio = boost::asio;
namespace ssl = boost::asio::ssl;

namespace {

// What a picture and its sound have.
constexpr std::size_t k_held_back_bytes = 16 << 10;

template <class Buffers>
void append(std::string& bytes, const Buffers& more) {
  for (const asio::const_buffer& part : more)
    bytes.append(static_cast<const char*>(part.data()), part.size());
}

asio::io_context::executor_type loop_of(const asio::any_io_executor& executor) {
  const auto* const loop = executor.target<asio::io_context::executor_type>();
  NAVTALK_CHECK(loop != nullptr);
  return *loop;
}

}  // namespace

MaybeTlsStream::MaybeTlsStream(next_layer_type tcp)
    : layers_(std::make_unique<Layers>(std::move(tcp))),
      executor_(loop_of(layers_->tcp.get_executor())),
      pause_(executor_) {}

asio::awaitable<boost::system::error_code> MaybeTlsStream::start_tls(std::string host) {
  boost::system::error_code failed;
  ssl::context context(ssl::context::tls_client);  // the stream keeps what it needs of it
  context.set_default_verify_paths(failed);
  if (failed) co_return failed;
  layers_->tls.emplace(layers_->tcp, context);
  layers_->tls->set_verify_mode(ssl::verify_peer);
  layers_->tls->set_verify_callback(ssl::host_name_verification(host));
  // A server of many names must be told which one is meant; an address is not a name.
  boost::system::error_code no_address;
  asio::ip::make_address(host, no_address);
  if (no_address) {
    // What the macro SSL_set_tlsext_host_name does.
    SSL_ctrl(layers_->tls->native_handle(), SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
             host.data());
  }
  const auto [refused] = co_await layers_->tls->async_handshake(ssl::stream_base::client, k_tuple);
  co_return refused;
}

asio::awaitable<boost::system::error_code> MaybeTlsStream::accept_tls(ssl::context& context) {
  layers_->tls.emplace(layers_->tcp, context);
  const auto [refused] = co_await layers_->tls->async_handshake(ssl::stream_base::server, k_tuple);
  co_return refused;
}

asio::awaitable<void> MaybeTlsStream::end_tls() {
  if (layers_->tls) co_await layers_->tls->async_shutdown(k_tuple);
}

void MaybeTlsStream::pace(const PaceLimits& limits, std::function<void()> too_fast) {
  pace_.emplace(limits, ReadPace::Clock::now());
  on_too_fast_ = std::move(too_fast);
}

void MaybeTlsStream::read_freely() {
  pace_.reset();
  on_too_fast_ = {};
  pause_.cancel();
}

void MaybeTlsStream::read_some(const MutableBuffers& into, SomeDone done) {
  if (pace_) {
    read_paced(into, std::move(done));
  } else {
    read_now(into, std::move(done));
  }
}

void MaybeTlsStream::read_paced(const MutableBuffers& into, SomeDone done) {
  boost::system::error_code closed;
  const std::size_t unread = layers_->tcp.socket().available(closed);
  const bool before = pace_->too_fast();
  const std::size_t allowed = pace_->allowed(unread, ReadPace::Clock::now());
  if (pace_ && !before && pace_->too_fast()) on_too_fast_();
  if (closed) return read_now(into, std::move(done));
  if (allowed > 0) {
    return read_now(into.shortened(allowed),
                    SomeDone([this, done = std::move(done)](boost::system::error_code error,
                                                            std::size_t size) mutable {
                      if (pace_) pace_->note_read(size, ReadPace::Clock::now());
                      done(error, size);
                    }));
  }
  pause_.expires_after(pace_->pause(ReadPace::Clock::now()));
  pause_.async_wait([this, into, done = std::move(done)](boost::system::error_code) mutable {
    read_some(into, std::move(done));
  });
}

void MaybeTlsStream::read_now(const MutableBuffers& into, SomeDone done) {
  last_read_ = std::chrono::steady_clock::now();
  if (layers_->tls) {
    layers_->tls->async_read_some(into, std::move(done));
  } else if (!timeouts_ && into.size() == 1) {
    // One buffer: recv() instead of recvmsg().
    layers_->tcp.socket().async_read_some(*into.begin(), std::move(done));
  } else if (!timeouts_) {
    layers_->tcp.socket().async_read_some(into, std::move(done));
  } else {
    layers_->tcp.async_read_some(into, std::move(done));
  }
}

bool MaybeTlsStream::may_wait(const ConstBuffers& from) const {
  if (may_wait_ == nullptr || held_back_.size() + asio::buffer_size(from) > k_held_back_bytes)
    return false;
  return std::any_of(from.begin(), from.end(),
                     [this](const asio::const_buffer& part) { return part.data() == may_wait_; });
}

void MaybeTlsStream::write_some(const ConstBuffers& from, SomeDone done) {
  if (may_wait(from)) {
    append(held_back_, from);
    asio::post(executor_, [size = asio::buffer_size(from), done = std::move(done)]() mutable {
      done({}, size);
    });
  } else if (held_back_.empty()) {
    write_now(from, std::move(done));
  } else {
    write_held_back(from, std::move(done));
  }
}

// OpenSSL makes a record of each buffer, the system takes several at once.
void MaybeTlsStream::write_held_back(const ConstBuffers& last, SomeDone done) {
  going_out_.clear();
  if (going_out_.capacity() > 4 * k_held_back_bytes) going_out_.shrink_to_fit();
  going_out_.swap(held_back_);
  auto written = [size = asio::buffer_size(last), done = std::move(done)](
                     boost::system::error_code failed, std::size_t) mutable {
    done(failed, failed ? 0 : size);
  };
  if (layers_->tls) {
    append(going_out_, last);
    asio::async_write(*layers_->tls, asio::buffer(going_out_), std::move(written));
  } else {
    asio::async_write(layers_->tcp.socket(), last.behind(asio::buffer(going_out_)),
                      std::move(written));
  }
}

void MaybeTlsStream::write_now(const ConstBuffers& from, SomeDone done) {
  if (layers_->tls) {
    layers_->tls->async_write_some(from, std::move(done));
  } else if (!timeouts_) {
    layers_->tcp.socket().async_write_some(from, std::move(done));
  } else {
    layers_->tcp.async_write_some(from, std::move(done));
  }
}

void MaybeTlsStream::end(boost::beast::role_type role, TeardownDone done) {
  if (on_teardown_) on_teardown_();
  if (layers_->tls) {
    layers_->tls->async_shutdown(std::move(done));
  } else {
    using boost::beast::websocket::async_teardown;
    async_teardown(role, layers_->tcp, std::move(done));
  }
}

}  // namespace navtalk::server
