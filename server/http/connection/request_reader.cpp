#include "server/http/connection/request_reader.h"

#include <algorithm>
#include <boost/asio/write.hpp>

#include "server/http/as_tuple.h"

namespace navtalk::server {
namespace asio = boost::asio;

namespace {

constexpr std::size_t k_read_bytes = 16 << 10;

}  // namespace

asio::awaitable<std::optional<ReadFault>> RequestReader::read(TakePart take_part) {
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
    if (gone) co_return ReadFault{};
    buffer_.commit(size);
  }
}

asio::awaitable<std::optional<ReadFault>> RequestReader::read_header() {
  co_return co_await read(&RequestParser::take_header);
}

asio::awaitable<std::optional<ReadFault>> RequestReader::read_body() {
  if (parser_.awaits_continue()) {
    constexpr std::string_view k_go_on = "HTTP/1.1 100 Continue\r\n\r\n";
    const auto [gone, size] = co_await asio::async_write(stream_, asio::buffer(k_go_on), k_tuple);
    if (gone) co_return ReadFault{};
  }
  co_return co_await read(&RequestParser::take_body);
}

}  // namespace navtalk::server
