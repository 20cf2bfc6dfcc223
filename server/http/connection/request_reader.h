// Reads one HTTP request from a connection in two steps: the header, by which most requests that are
// not allowed are told so, and then the body. Of the I/O thread; private to server/http: it brings
// Beast.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <optional>

#include "server/http/connection/body_pace.h"
#include "server/http/connection/request_parser.h"
#include "server/http/socket/maybe_tls_stream.h"

namespace navtalk::server {

// Why there is no request: what to tell the peer, or nothing when it went away.
struct ReadFault {
  std::optional<Response> refusal{};
};

class RequestReader {
 public:
  // `buffer` keeps what was read of the next request.
  RequestReader(MaybeTlsStream& stream, RequestParser::Buffer& buffer,
                const RequestParser::Limits& limits)
      : stream_(stream), buffer_(buffer), parser_(limits) {}

  // nullopt: done.
  boost::asio::awaitable<std::optional<ReadFault>> read_header();
  // Asks for the body first where the peer waits to be asked ("Expect: 100-continue").
  // Where `pace` is given, a body that comes more slowly is refused with 408.
  boost::asio::awaitable<std::optional<ReadFault>> read_body(
      std::optional<BodyPace::Limits> pace = {});
  // See RequestParser::limit_body(). nullopt: done.
  std::optional<ReadFault> limit_body(std::uint64_t bytes) {
    if (parser_.limit_body(bytes) == RequestParser::Step::done) return std::nullopt;
    return ReadFault{parser_.refusal()};
  }

  const RequestParser& parser() const { return parser_; }
  RequestParser::Message take() { return parser_.take(); }

 private:
  using TakePart = RequestParser::Step (RequestParser::*)(RequestParser::Buffer&);
  boost::asio::awaitable<std::optional<ReadFault>> read(TakePart take_part,
                                                        BodyPace* pace = nullptr);

  MaybeTlsStream& stream_;
  RequestParser::Buffer& buffer_;
  RequestParser parser_;
};

}  // namespace navtalk::server
