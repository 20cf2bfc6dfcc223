// Ends the reading of a body that comes too slowly: each piece of it has only so much time. Of the I/O thread; private to
// server/http.
#pragma once

#include <algorithm>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <memory>

#include "server/http/socket/maybe_tls_stream.h"

namespace navtalk::server {

class BodyPace {
 public:
  struct Limits {
    std::uint64_t piece_bytes = 0;
    std::chrono::milliseconds within{};
  };

  BodyPace(MaybeTlsStream& stream, const Limits& limits)
      : limits_(limits),
        timer_(stream.get_executor()),
        watched_(std::make_shared<Watched>(Watched{.stream = &stream.next_layer()})) {
    begin_piece();
  }
  ~BodyPace() { watched_->stream = nullptr; }
  BodyPace(const BodyPace&) = delete;
  BodyPace& operator=(const BodyPace&) = delete;

  void took(std::size_t bytes) {
    left_ -= std::min<std::uint64_t>(left_, bytes);
    if (left_ == 0) begin_piece();
  }
  // The operation on the stream was cancelled then, and the stream can still be written.
  bool too_slow() const { return watched_->too_slow; }

 private:
  struct Watched {
    boost::beast::tcp_stream* stream = nullptr;  // nullptr: it is read no more
    std::uint64_t piece = 0;                     // its number
    bool too_slow = false;
  };

  // The timer of an earlier piece may have run out already, and only wait for its turn.
  void begin_piece() {
    left_ = limits_.piece_bytes;
    timer_.expires_after(limits_.within);
    timer_.async_wait([watched = watched_, piece = ++watched_->piece](const auto& cancelled) {
      if (cancelled || watched->stream == nullptr || watched->piece != piece) return;
      watched->too_slow = true;
      watched->stream->cancel();
    });
  }

  const Limits limits_;
  std::uint64_t left_ = 0;  // bytes of the piece
  boost::asio::steady_timer timer_;
  std::shared_ptr<Watched> watched_;
};

}  // namespace navtalk::server
