#include "server/http/connection/request_parser.h"

#include <catch2/catch.hpp>

using namespace navtalk::server;
using Step = RequestParser::Step;

namespace {

struct Parsed {
  Step header{}, body = Step::needs_more;
  int status = 0;  // of a refusal
  NamedValues judged{}, handled{};
  std::string bytes{};
};

// As a connection that brings `text` in pieces.
Parsed parse(const std::string& text, std::size_t piece = 4096,
             const RequestParser::Limits& limits = {}) {
  RequestParser parser(limits);
  RequestParser::Buffer buffer(48 << 10);
  std::size_t sent = 0;
  const auto read = [&](Step (RequestParser::*take)(RequestParser::Buffer&)) {
    for (;;) {
      const Step step = (parser.*take)(buffer);
      const std::size_t size = std::min(piece, text.size() - sent);
      if (step != Step::needs_more || size == 0) return step;
      std::copy_n(text.data() + sent, size, static_cast<char*>(buffer.prepare(size).data()));
      buffer.commit(size);
      sent += size;
    }
  };
  Parsed parsed{.header = read(&RequestParser::take_header)};
  if (parsed.header == Step::done) {
    parsed.judged = request_of(parser.message()).headers;
    parsed.body = read(&RequestParser::take_body);
  }
  if (parsed.header == Step::refused || parsed.body == Step::refused)
    parsed.status = parser.refusal().status;
  if (parsed.body == Step::done) {
    const RequestParser::Message message = parser.take();
    parsed.handled = request_of(message).headers;
    parsed.bytes = message.body();
  }
  return parsed;
}

}  // namespace

TEST_CASE("a trailer adds nothing to the header that was judged") {
  const std::size_t piece = GENERATE(1, 4096);
  const Parsed parsed = parse(
      "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
      "2\r\n{}\r\n0\r\nAuthorization: Bearer b\r\nConnection: close\r\n\r\n",
      piece);
  REQUIRE(parsed.body == Step::done);
  CHECK(parsed.bytes == "{}");
  CHECK(parsed.handled == parsed.judged);
  CHECK(parsed.handled.size() == 2);
}

TEST_CASE("a field of a trailer that goes on in a second line is refused, data like it are not") {
  const std::size_t piece = GENERATE(1, 5, 4096);
  const std::string head = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
  CHECK(parse(head + "0\r\na: b\r\n c\r\n\r\n", piece).status == 400);
  CHECK(parse(head + "0\r\na: b\r\n\tc\r\n\r\n", piece).status == 400);
  CHECK(parse(head + "2\r\n{}\r\n0;x=y\r\na: b\r\n c\r\n\r\n", piece).status == 400);
  CHECK(parse(head + "4\r\n\r\n c\r\n0\r\na: b\r\n\r\n", piece).bytes == "\r\n c");
}

TEST_CASE("an empty chunked body is taken in whatever pieces it comes") {
  const std::size_t piece = GENERATE(1, 2, 3, 4, 5, 4096);
  const std::string head = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
  CHECK(parse(head + "0\r\n\r\n", piece).body == Step::done);
  CHECK(parse(head + "0\r\nT: y\r\n\r\n", piece).body == Step::done);
}

TEST_CASE("a length that is a list of numbers is refused, even of equal ones") {
  const std::string rest = "\r\nHost: x\r\n\r\n{}";
  CHECK(parse("POST / HTTP/1.1\r\nContent-Length: 2" + rest).bytes == "{}");
  CHECK(parse("POST / HTTP/1.1\r\nContent-Length: 2, 2" + rest).status == 400);
}

TEST_CASE("a chunk whose extensions hold the end of a line is refused") {
  const std::string head = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
  CHECK(parse(head + "2;a=\"b\tc\"\r\n{}\r\n0\r\n\r\n").bytes == "{}");
  CHECK(parse(head + "2;a=\"b\nc\"\r\n{}\r\n0\r\n\r\n").status == 400);
  CHECK(parse(head + "2\r\n{}\r\n0;a=\"b\nc\"\r\n\r\n").status == 400);
}

TEST_CASE("the limit of a header counts all of it, in whatever pieces it comes") {
  const std::size_t piece = GENERATE(1, 100, 4096);
  std::string header = "GET / HTTP/1.1\r\nHost: x\r\n";
  while (header.size() < 900) header += "A: b\r\n";
  header += "\r\n";
  const auto size = static_cast<std::uint32_t>(header.size());
  CHECK(parse(header, piece, {.header_bytes = size}).header == Step::done);
  CHECK(parse(header, piece, {.header_bytes = size - 1}).status == 431);
}

TEST_CASE("what frames the chunks of a body is bounded in all, in whatever pieces it comes") {
  const std::size_t piece = GENERATE(7, 4096);
  const auto body_of = [](std::size_t chunks, const std::string& size_line) {
    std::string text = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
    for (std::size_t i = 0; i < chunks; ++i) text += size_line + "\r\nx\r\n";
    return text + "0\r\n\r\n";
  };
  const std::string extended = "1;a=" + std::string(95, 'b');  // 104 bytes beside one of data
  const std::string padded = std::string(100, '0') + "1";      // 105
  const RequestParser::Limits limits{.body_bytes = 10'400 + 5};
  CHECK(parse(body_of(100, extended), piece, limits).bytes == std::string(100, 'x'));
  CHECK(parse(body_of(101, extended), piece, limits).status == 413);
  CHECK(parse(body_of(100, padded), piece, limits).status == 413);
  CHECK(parse(body_of(2'000, "1"), piece, limits).bytes.size() == 2'000);
}
