#include "server/http/socket/maybe_tls_stream.h"

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>

#include "server/http/as_tuple.h"

namespace navtalk::server {
namespace asio = boost::asio;
namespace ssl = boost::asio::ssl;

namespace {

template <class Buffers>
Buffers shortened(Buffers buffers, std::size_t bytes) {
  for (auto& buffer : buffers) {
    buffer = asio::buffer(buffer, bytes);
    bytes -= buffer.size();
  }
  return buffers;
}

}  // namespace

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
    return read_now(shortened(into, allowed),
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
  if (layers_->tls) {
    layers_->tls->async_read_some(into, std::move(done));
  } else {
    layers_->tcp.async_read_some(into, std::move(done));
  }
}

void MaybeTlsStream::write_some(const ConstBuffers& from, SomeDone done) {
  if (layers_->tls) {
    layers_->tls->async_write_some(from, std::move(done));
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
