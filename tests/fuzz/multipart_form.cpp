// A form: its Content-Type up to the first line break, then the body. The parts are in the body, in order and apart; a form that is
// written from them has the same parts.
#include <cstdint>
#include <optional>
#include <string>

#include "core/base/error.h"
#include "server/gateway/jobs/multipart.h"
#include "tests/fuzz/expect.h"

namespace {

using namespace navtalk;
using namespace navtalk::server;

using Parts = std::vector<FormPart>;

std::optional<Parts> accepted(std::string_view type, std::string_view body) {
  try {
    return parse_form(type, body);
  } catch (const Error& error) {
    expect(error.code() == Code::usage, "a form that is refused is malformed");
    return std::nullopt;
  }
}

void check_places(const Parts& parts, std::string_view body) {
  expect(parts.size() <= 16, "a form has few parts");
  const char* behind = body.data();
  for (const FormPart& part : parts) {
    expect(!part.name.empty(), "a part has a name");
    expect(part.content.data() > behind, "parts are apart, in their order");
    behind = part.content.data() + part.content.size();
    expect(behind <= body.data() + body.size(), "a part is within the body");
  }
}

// "boundary" of a Content-Type of the usual shape.
std::optional<std::string> plain_boundary(std::string_view type) {
  constexpr std::string_view k_usual = "multipart/form-data; boundary=";
  if (type.substr(0, k_usual.size()) != k_usual) return std::nullopt;
  const std::string_view rest = type.substr(k_usual.size());
  const bool plain = rest.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == rest.npos;
  return plain ? std::optional<std::string>(rest) : std::nullopt;
}

std::string written(const Parts& parts, const std::string& boundary) {
  std::string body;
  for (const FormPart& part : parts) {
    body += "--" + boundary + "\r\nContent-Disposition: form-data; name=\"" + part.name +
            "\"\r\n\r\n" + std::string(part.content) + "\r\n";
  }
  return body + "--" + boundary + "--\r\n";
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  const std::size_t line = all.find('\n');
  if (line == all.npos) return 0;
  const std::string_view type = all.substr(0, line), body = all.substr(line + 1);
  const std::optional<Parts> parts = accepted(type, body);
  if (!parts) return 0;
  check_places(*parts, body);
  const auto boundary = plain_boundary(type);
  if (!boundary) return 0;
  for (const FormPart& part : *parts) {
    expect(part.content.find("\r\n--" + *boundary) == part.content.npos,
           "no part has its boundary inside");
    constexpr std::size_t k_surely_short = 1000;
    if (part.name.find('"') != part.name.npos || part.name.size() > k_surely_short) return 0;
  }
  const std::string body_again = written(*parts, *boundary);
  const std::optional<Parts> again = accepted(type, body_again);
  expect(again && again->size() == parts->size(), "a form that is written has as many parts");
  for (std::size_t i = 0; i < parts->size(); ++i) {
    expect((*again)[i].name == (*parts)[i].name && (*again)[i].content == (*parts)[i].content,
           "a part that is written stays the same");
  }
  return 0;
}
