// The bytes of one connection as HTTP requests. In whatever pieces they arrive, the same requests are
// accepted; and a second, simpler reader finds the same header and the same length of the body.
#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>

#include "core/text/number.h"
#include "server/http/connection/request_parser.h"
#include "server/http/same_machine.h"
#include "tests/fuzz/expect.h"

namespace {

using namespace navtalk;
using namespace navtalk::server;
using Step = RequestParser::Step;

// Low, so that short inputs reach them.
constexpr RequestParser::Limits k_limits{.header_bytes = 512, .body_bytes = 256};
constexpr std::size_t k_buffer_bytes = 768;

struct Accepted {
  std::string method{}, target{}, body{};
  NamedValues headers{};
  bool operator==(const Accepted&) const = default;
};

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return out;
}

std::string_view without_blanks(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

NamedValues fields_of(std::string_view header) {
  NamedValues fields;
  header.remove_prefix(header.find("\r\n") + 2);
  while (header != "\r\n") {
    const std::string_view line = header.substr(0, header.find("\r\n"));
    header.remove_prefix(line.size() + 2);
    const std::size_t colon = line.find(':');
    expect(colon != line.npos && colon > 0, "a field has a name");
    const std::string name = lower_case(line.substr(0, colon));
    expect(name.find_first_of(" \t\"(),/;<=>?@[\\]{}") == name.npos, "a field's name is a token");
    fields.emplace_back(name, without_blanks(line.substr(colon + 1)));
  }
  return fields;
}

// A header that was accepted, as a reader sees it who knows lines and nothing else.
NamedValues check_header(std::string_view header) {
  expect(header.size() <= k_limits.header_bytes, "a header is within its limit");
  expect(header.ends_with("\r\n\r\n"), "a header ends with an empty line");
  expect(header.find('\0') == header.npos, "a header has no NUL");
  for (std::size_t i = 0; i < header.size(); ++i) {
    if (header[i] == '\n') expect(i > 0 && header[i - 1] == '\r', "no line ends with LF alone");
    if (header[i] == '\r') expect(header[i + 1] == '\n', "no CR stands alone");
  }
  return fields_of(header);
}

// The body of what came after the header, by the letter of RFC 9112, 7.1.
std::string unchunked(std::string_view raw) {
  const auto take_line = [&raw] {
    const std::string_view line = raw.substr(0, raw.find("\r\n"));
    expect(line.size() + 2 <= raw.size(), "a chunked body is made of lines");
    expect(line.find_first_of(std::string_view("\r\n\0", 3)) == line.npos,
           "a line of a chunked body has no other end");
    raw.remove_prefix(line.size() + 2);
    return line;
  };
  std::string body;
  for (;;) {
    std::string_view line = take_line();
    const auto size = take_number<std::size_t>(line, 16);
    expect(size && *size <= raw.size(), "a chunk starts with its size");
    expect(line.find_first_not_of(" \t") == line.npos || without_blanks(line).starts_with(';'),
           "only extensions follow a chunk's size");
    if (*size == 0) break;
    body += raw.substr(0, *size);
    raw.remove_prefix(*size);
    expect(take_line().empty(), "a chunk ends with its last byte");
  }
  while (!take_line().empty()) {
  }
  expect(raw.empty(), "a chunked body ends with its trailer");
  return body;
}

// What says where the body ends. `raw`: the body as it came.
void check_framing(std::string_view header, const NamedValues& fields, std::string_view raw,
                   const std::string& body) {
  const auto all = [&](std::string_view name) {
    std::vector<std::string> values;
    for (const auto& [field, value] : fields)
      if (field == name) values.push_back(value);
    return values;
  };
  const auto lengths = all("content-length"), encodings = all("transfer-encoding");
  const bool old = header.substr(0, header.find("\r\n")).ends_with("HTTP/1.0");
  expect(all("host").size() <= 1 && (old || all("host").size() == 1), "a request has one host");
  expect(all("origin").size() <= 1, "a request has one origin");
  expect(lengths.size() + encodings.size() <= 1, "one field says where the body ends");
  expect(body.size() <= k_limits.body_bytes, "a body is within its limit");
  if (!encodings.empty()) {
    expect(!old && lower_case(encodings[0]) == "chunked", "chunked is the only encoding");
    expect(unchunked(raw) == body, "two readers see the same chunks");
    expect(raw.size() - body.size() <= k_limits.body_bytes,
           "the chunks' framing is within its limit");
    return;
  }
  const std::string length = lengths.empty() ? "0" : lengths[0];
  expect(std::all_of(length.begin(), length.end(), [](char c) { return c >= '0' && c <= '9'; }),
         "a length is one number");
  expect(parse_number<std::size_t>(length) == raw.size() && raw == body,
         "a body has the length that it says");
}

// What handlers do with every request.
void handle(Request request, const std::string& target) {
  if (!parse_target(target, request)) return;
  expect(request.path.starts_with('/'), "a path starts at the root");
  expect(request.path.find('\0') == std::string::npos, "a path has no NUL");
  const std::string host = lower_case(request.header("host").value_or(""));
  if (is_this_machine(host))
    expect(host.starts_with("localhost") || host.starts_with("127.") || host.starts_with("["),
           "this machine has few names");
  if (const auto origin = request.header("origin")) is_page_of_this_machine(*origin);
  try {
    expect(json_body(request).is_object(), "a JSON body is an object");
  } catch (const Error&) {
    return;  // refused, as it should be
  }
}

class Connection {
 public:
  Connection(std::string_view bytes, std::size_t piece) : bytes_(bytes), piece_(piece) {}

  // Until one is refused or not complete.
  std::vector<Accepted> requests() {
    std::vector<Accepted> all;
    while (taken() < bytes_.size()) {
      std::optional<Accepted> request = one_request();
      if (!request) break;
      all.push_back(*std::move(request));
    }
    return all;
  }

 private:
  std::size_t taken() const { return sent_ - buffer_.size(); }

  bool read_more() {
    const std::size_t size =
        std::min({piece_, bytes_.size() - sent_, k_buffer_bytes - buffer_.size()});
    std::copy_n(bytes_.data() + sent_, size, static_cast<char*>(buffer_.prepare(size).data()));
    buffer_.commit(size);
    sent_ += size;
    return size > 0;
  }

  bool read(RequestParser& parser, Step (RequestParser::*take)(RequestParser::Buffer&)) {
    for (;;) {
      const Step step = (parser.*take)(buffer_);
      if (step == Step::refused)
        expect(parser.refusal().status >= 400 && parser.refusal().status < 500,
               "the client is told that its request is refused");
      if (step != Step::needs_more || !read_more()) return step == Step::done;
    }
  }

  std::optional<Accepted> one_request() {
    RequestParser parser(k_limits);
    const std::size_t start = taken();
    if (!read(parser, &RequestParser::take_header)) return std::nullopt;
    const std::string_view header = bytes_.substr(start, taken() - start);
    const NamedValues fields = check_header(header);
    Request request = request_of(parser.message());
    expect(request.headers.size() == fields.size(), "two readers see the same fields");
    if (!read(parser, &RequestParser::take_body)) return std::nullopt;
    expect(parser.complete(), "a request that is done is complete");
    const RequestParser::Message message = parser.take();
    const std::size_t body = start + header.size();
    check_framing(header, fields, bytes_.substr(body, taken() - body), message.body());
    const NamedValues headers = request_of(message).headers;
    expect(headers == request.headers, "a trailer adds nothing to the header");
    Accepted accepted{.method = request.method,
                      .target = std::string(message.target()),
                      .body = message.body(),
                      .headers = headers};
    request.body = message.body();
    handle(std::move(request), accepted.target);
    return accepted;
  }

  std::string_view bytes_;
  std::size_t piece_ = 0, sent_ = 0;
  RequestParser::Buffer buffer_{k_buffer_bytes};
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::vector<Accepted> whole = Connection(bytes, k_buffer_bytes).requests();
  for (const std::size_t piece : {1, 7})
    expect(Connection(bytes, piece).requests() == whole, "pieces do not change what is accepted");
  return 0;
}
