#include "server/http/connection/request_parser.h"

#include <algorithm>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/websocket/rfc6455.hpp>

namespace navtalk::server {
namespace beast = boost::beast;
namespace http = boost::beast::http;

namespace {

constexpr unsigned k_http_1_1 = 11;
// The least that is still to come of a chunked body. Beast asserts that it sees no less of it.
constexpr std::string_view k_last_chunk = "0\r\n\r\n";

Response answer_to(const beast::error_code& error) {
  if (error == http::error::header_limit || error == http::error::buffer_overflow)
    return error_response(431, "usage", "the request's header is too long");
  if (error == http::error::body_limit)
    return error_response(413, "usage", "the request's body is too long");
  return error_response(400, "usage", "this is not an HTTP/1.1 request: " + error.message());
}

// A list of equal numbers is one number to Beast.
bool is_number(beast::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool has_folded_line(std::string_view lines) {
  return lines.find("\r\n ") != std::string_view::npos ||
         lines.find("\r\n\t") != std::string_view::npos;
}

// What a proxy before this server could read in another way than this server (RFC 9112, 3.2 and 6.3).
std::optional<std::string> why_ambiguous(const RequestParser::Message& message,
                                         std::string_view header) {
  const auto count = [&](http::field name) { return message.count(name); };
  if (has_folded_line(header)) return "a header field goes on in a second line";
  if (count(http::field::host) > 1) return "it has two Host fields";
  if (message.version() >= k_http_1_1 && count(http::field::host) == 0)
    return "it has no Host field";
  if (count(http::field::origin) > 1) return "it has two Origin fields";
  if (count(http::field::content_length) > 1) return "it has two Content-Length fields";
  if (!is_number(message[http::field::content_length])) return "its Content-Length is a list";
  if (count(http::field::transfer_encoding) == 0) return std::nullopt;
  if (count(http::field::transfer_encoding) > 1) return "it has two Transfer-Encoding fields";
  if (message.version() < k_http_1_1) return "HTTP/1.0 has no Transfer-Encoding";
  if (count(http::field::content_length) > 0) return "it has Transfer-Encoding and Content-Length";
  if (!beast::iequals(message[http::field::transfer_encoding], "chunked"))
    return "its Transfer-Encoding is not \"chunked\"";
  return std::nullopt;
}

std::string lower_case(beast::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return out;
}

}  // namespace

RequestParser::RequestParser(const Limits& limits)
    : header_limit_(limits.header_bytes), overhead_limit_(limits.body_bytes) {
  parser_.header_limit(limits.header_bytes);
  parser_.body_limit(limits.body_bytes);
  parser_.on_chunk_header(on_chunk_);
}

RequestParser::Step RequestParser::limit_body(std::uint64_t bytes) {
  overhead_limit_ = bytes;
  parser_.body_limit(bytes);
  const auto announced = parser_.content_length();
  return announced && *announced > bytes ? refuse(http::error::body_limit) : Step::done;
}

// Beast takes a line feed between quotation marks; to others it ends the line.
void RequestParser::check_chunk(std::uint64_t size, std::string_view extensions,
                                beast::error_code& error) {
  const bool odd = std::any_of(extensions.begin(), extensions.end(), [](char c) {
    return c != '\t' && (static_cast<unsigned char>(c) < 0x20 || c == 0x7F);
  });
  if (odd) error = http::error::bad_chunk_extension;
  if (size == 0) trailer_ = extensions.data() + extensions.size();  // from the end of that line on
}

// By hand, because the header is looked at as it came: Beast joins lines.
RequestParser::Step RequestParser::take_header(Buffer& buffer) {
  beast::error_code error;
  if (buffer.size() > 0) {
    const std::size_t used = parser_.put(buffer.data(), error);
    header_.append(static_cast<const char*>(buffer.data().data()), used);
    buffer.consume(used);
  }
  if (error && error != http::error::need_more) return refuse(error);
  // Beast's limit counts anew with every field that was complete when it was asked.
  const bool ends = parser_.is_header_done();
  const std::size_t least = header_.size() + (ends ? 0 : buffer.size() + 1);
  if (least > header_limit_ || (!ends && is_full(buffer))) return refuse(http::error::header_limit);
  if (!ends) return Step::needs_more;
  if (const auto why = why_ambiguous(parser_.get(), header_))
    return refuse(error_response(400, "usage", "the request is ambiguous: " + *why));
  return Step::done;
}

RequestParser::Step RequestParser::take_body(Buffer& buffer) {
  if (complete()) return Step::done;
  parser_.eager(true);
  if (message().chunked()) {
    if (!judged_) judged_ = message().base();  // Beast adds the trailer to it
    if (buffer.size() < k_last_chunk.size()) return Step::needs_more;
  }
  beast::error_code error;
  if (buffer.size() > 0) {
    const std::size_t used = parser_.put(buffer.data(), error);
    body_taken_ += used;
    const char* end = static_cast<const char*>(buffer.data().data()) + used;
    const bool folded =  // Beast sees a trailer only as a whole
        complete() && trailer_ != nullptr &&
        has_folded_line({trailer_, static_cast<std::size_t>(end - trailer_)});
    buffer.consume(used);
    if (folded)
      return refuse(error_response(
          400, "usage",
          "the request is ambiguous: a field of its trailer goes on in a second line"));
  }
  if (error && error != http::error::need_more) return refuse(error);
  // It never shrinks, so that the verdict does not depend on the pieces.
  if (body_taken_ - message().body().size() > overhead_limit_)
    return refuse(error_response(413, "usage", "the chunks of the request's body are too long"));
  if (complete()) return Step::done;
  return is_full(buffer) ? refuse(http::error::buffer_overflow) : Step::needs_more;
}

RequestParser::Message RequestParser::take() {
  Message message = parser_.release();
  if (judged_) message.base() = *std::move(judged_);
  return message;
}

bool RequestParser::awaits_continue() const {
  return !complete() && beast::iequals(message()[http::field::expect], "100-continue");
}

RequestParser::Step RequestParser::refuse(Response response) {
  refusal_ = std::move(response);
  return Step::refused;
}

RequestParser::Step RequestParser::refuse(const beast::error_code& error) {
  return refuse(answer_to(error));
}

Request request_of(const RequestParser::Message& message) {
  Request request;
  request.method = std::string(message.method_string());
  request.upgrade = beast::websocket::is_upgrade(message);
  const auto length = message[http::field::content_length];
  request.has_body = message.chunked() || (!length.empty() && length != "0");
  for (const auto& field : message) {
    request.headers.emplace_back(lower_case(field.name_string()), field.value());
  }
  return request;
}

}  // namespace navtalk::server
