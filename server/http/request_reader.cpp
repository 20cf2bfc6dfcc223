#include "server/http/request_reader.h"

#include <boost/asio/write.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/read.hpp>

#include "server/http/as_tuple.h"

namespace navtalk::server {
namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;

namespace {

constexpr std::size_t k_read_bytes = 4096;
constexpr unsigned k_http_1_1 = 11;

using Message = RequestReader::Parser::value_type;

ReadFault fault_of(beast::error_code error) {
  if (error == http::error::header_limit || error == http::error::buffer_overflow)
    return {error_response(431, "usage", "the request's header is too long")};
  if (error == http::error::body_limit)
    return {error_response(413, "usage", "the request's body is too long")};
  if (error == http::error::end_of_stream || error == http::error::partial_message) return {};
  if (error.category() == http::make_error_code(http::error::bad_method).category())
    return {error_response(400, "usage", "this is not an HTTP/1.1 request: " + error.message())};
  return {};
}

// What a proxy before this server could read in another way than this server (RFC 9112, 3.2 and 6.3).
std::optional<std::string> why_ambiguous(const Message& message, std::string_view header) {
  const auto count = [&](http::field name) { return message.count(name); };
  if (header.find("\r\n ") != std::string_view::npos ||
      header.find("\r\n\t") != std::string_view::npos)
    return "a header field goes on in a second line";
  if (count(http::field::host) > 1) return "it has two Host fields";
  if (message.version() >= k_http_1_1 && count(http::field::host) == 0)
    return "it has no Host field";
  if (count(http::field::origin) > 1) return "it has two Origin fields";
  if (count(http::field::content_length) > 1) return "it has two Content-Length fields";
  if (count(http::field::transfer_encoding) == 0) return std::nullopt;
  if (count(http::field::transfer_encoding) > 1) return "it has two Transfer-Encoding fields";
  if (message.version() < k_http_1_1) return "HTTP/1.0 has no Transfer-Encoding";
  if (count(http::field::content_length) > 0) return "it has Transfer-Encoding and Content-Length";
  if (!beast::iequals(message[http::field::transfer_encoding], "chunked"))
    return "its Transfer-Encoding is not \"chunked\"";
  return std::nullopt;
}

}  // namespace

RequestReader::RequestReader(beast::tcp_stream& stream, beast::flat_buffer& buffer,
                             const HttpLimits& limits)
    : stream_(stream), buffer_(buffer) {
  parser_.header_limit(limits.header_bytes);
  parser_.body_limit(limits.body_bytes);
}

// By hand, because the header is looked at as it came: Beast joins lines.
asio::awaitable<std::optional<ReadFault>> RequestReader::read_header() {
  for (;;) {
    beast::error_code error;
    if (buffer_.size() > 0) {
      const std::size_t used = parser_.put(buffer_.data(), error);
      header_.append(static_cast<const char*>(buffer_.data().data()), used);
      buffer_.consume(used);
    }
    if (error && error != http::error::need_more) co_return fault_of(error);
    if (parser_.is_header_done()) break;
    if (buffer_.size() == buffer_.max_size()) co_return fault_of(http::error::header_limit);
    const std::size_t room = std::min(k_read_bytes, buffer_.max_size() - buffer_.size());
    const auto [gone, size] = co_await stream_.async_read_some(buffer_.prepare(room), k_tuple);
    if (gone) co_return ReadFault{};
    buffer_.commit(size);
  }
  if (const auto why = why_ambiguous(parser_.get(), header_))
    co_return ReadFault{error_response(400, "usage", "the request is ambiguous: " + *why)};
  co_return std::nullopt;
}

asio::awaitable<std::optional<ReadFault>> RequestReader::read_body() {
  if (parser_.is_done()) co_return std::nullopt;
  if (beast::iequals(parser_.get()[http::field::expect], "100-continue")) {
    constexpr std::string_view k_go_on = "HTTP/1.1 100 Continue\r\n\r\n";
    const auto [gone, size] = co_await asio::async_write(stream_, asio::buffer(k_go_on), k_tuple);
    if (gone) co_return ReadFault{};
  }
  const auto [error, size] = co_await http::async_read(stream_, buffer_, parser_, k_tuple);
  if (error) co_return fault_of(error);
  co_return std::nullopt;
}

}  // namespace navtalk::server
