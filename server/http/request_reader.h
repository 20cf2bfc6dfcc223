// Reads one HTTP request in two steps: the header, by which most requests that are not allowed are
// told so, and then the body. What two readers could understand differently is refused. Of the I/O
// thread; private to server/http: it brings Beast.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <optional>
#include <string>

#include "server/http/http_server.h"

namespace navtalk::server {

// Why there is no request: what to tell the peer, or nothing when it went away.
struct ReadFault {
  std::optional<Response> refusal{};
};

class RequestReader {
 public:
  using Parser = boost::beast::http::request_parser<boost::beast::http::string_body>;

  // `buffer` keeps what was read of the next request; its maximum bounds a chunk's extensions and the
  // trailer too.
  RequestReader(boost::beast::tcp_stream& stream, boost::beast::flat_buffer& buffer,
                const HttpLimits& limits);

  // nullopt: done.
  boost::asio::awaitable<std::optional<ReadFault>> read_header();
  // Asks for the body first where the peer waits to be asked ("Expect: 100-continue").
  boost::asio::awaitable<std::optional<ReadFault>> read_body();
  // Is there no more of the request to come?
  bool complete() const { return parser_.is_done(); }
  const Parser::value_type& message() const { return parser_.get(); }
  Parser::value_type take() { return parser_.release(); }

 private:
  boost::beast::tcp_stream& stream_;
  boost::beast::flat_buffer& buffer_;
  Parser parser_;
  std::string header_{};  // as it came
};

}  // namespace navtalk::server
