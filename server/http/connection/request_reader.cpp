#include "server/http/connection/request_reader.h"

#include <algorithm>
#include <boost/asio/write.hpp>

#include "server/http/as_tuple.h"

namespace navtalk::server {
namespace asio = boost::asio;

namespace {

constexpr std::size_t k_read_bytes = 16 << 10;

}  // namespace

asio::awaitable<std::optional<ReadFault>> RequestReader::read(TakePart take_part, BodyPace* pace) {
  for (;;) {
    switch ((parser_.*take_part)(buffer_)) {
      case RequestParser::Step::done:
        co_return std::nullopt;
      case RequestParser::Step::refused:
        co_return ReadFault{parser_.refusal()};
      case RequestParser::Step::needs_more:
        break;
    }
    const std::size_t room = std::min(k_read_bytes, buffer_.max_size() - buffer_.size());
    const auto [gone, size] = co_await stream_.async_read_some(buffer_.prepare(room), k_tuple);
    if (pace != nullptr && pace->too_slow())
      co_return ReadFault{error_response(408, "too_slow", "the request's body comes too slowly")};
    if (gone) co_return ReadFault{};
    buffer_.commit(size);
    if (pace != nullptr) pace->took(size);
  }
}

asio::awaitable<std::optional<ReadFault>> RequestReader::read_header() {
  co_return co_await read(&RequestParser::take_header);
}

asio::awaitable<std::optional<ReadFault>> RequestReader::read_body(
    std::optional<BodyPace::Limits> pace) {
  if (parser_.awaits_continue()) {
    constexpr std::string_view k_go_on = "HTTP/1.1 100 Continue\r\n\r\n";
    const auto [gone, size] = co_await asio::async_write(stream_, asio::buffer(k_go_on), k_tuple);
    if (gone) co_return ReadFault{};
  }
  if (!pace) co_return co_await read(&RequestParser::take_body);
  BodyPace watched(stream_, *pace);
  co_return co_await read(&RequestParser::take_body, &watched);
}

}  // namespace navtalk::server
