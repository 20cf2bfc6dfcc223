#include "server/gateway/jobs/multipart.h"

#include <algorithm>
#include <functional>

#include "core/base/error.h"

namespace navtalk::server {
namespace {

constexpr std::size_t k_most_parts = 16;
constexpr std::size_t k_longest_boundary = 70;  // RFC 2046
constexpr std::size_t k_longest_header = 4096;

[[noreturn]] void refuse(const char* why) {
  throw Error(Code::usage, std::string("the form is malformed: ") + why);
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  });
  return lower;
}

// The value of `name=` or `name="..."` among parameters behind semicolons.
std::string parameter(std::string_view text, std::string_view name) {
  const std::string wanted = std::string(name) + "=";
  for (std::size_t at = text.find(';'); at != std::string_view::npos; at = text.find(';', at)) {
    at = text.find_first_not_of("; \t", at);
    if (at == std::string_view::npos) break;
    if (lower_case(text.substr(at, wanted.size())) != wanted) continue;
    const std::string_view value = text.substr(at + wanted.size());
    if (!value.starts_with('"'))
      return std::string(value.substr(0, value.find_first_of("; \t\r\n")));
    const std::size_t end = value.find('"', 1);
    if (end == std::string_view::npos) refuse("a quote is not closed");
    return std::string(value.substr(1, end - 1));
  }
  return "";
}

std::string name_of(std::string_view header) {
  while (!header.empty()) {
    const std::size_t end = header.find("\r\n");
    const std::string_view line = header.substr(0, end);
    if (lower_case(line.substr(0, line.find(':'))) == "content-disposition")
      return parameter(line, "name");
    header.remove_prefix(end == std::string_view::npos ? header.size() : end + 2);
  }
  return "";
}

FormPart part_of(std::string_view text) {
  const std::size_t end = text.substr(0, k_longest_header).find("\r\n\r\n");
  if (end == std::string_view::npos) refuse("a part has no header");
  FormPart part{.name = name_of(text.substr(0, end)), .content = text.substr(end + 4)};
  if (part.name.empty()) refuse("a part has no name");
  return part;
}

}  // namespace

std::vector<FormPart> parse_form(std::string_view type, std::string_view body) {
  const std::string boundary = parameter(type, "boundary");
  if (boundary.empty() || boundary.size() > k_longest_boundary)
    refuse("the header Content-Type names no boundary");
  const std::string line = "--" + boundary;
  if (!body.starts_with(line)) refuse("it does not begin with its boundary");
  body.remove_prefix(line.size());
  const std::string next = "\r\n" + line;
  // Linear in time whatever boundary and content the sender chose, which find() is not, and neither is Horspool's variant.
  const std::boyer_moore_searcher search(next.begin(), next.end());
  std::vector<FormPart> parts;
  while (!body.starts_with("--")) {
    if (!body.starts_with("\r\n")) refuse("its boundary has something behind it");
    const auto found = std::search(body.begin() + 2, body.end(), search);
    if (found == body.end()) refuse("its end is missing");
    const auto end = static_cast<std::size_t>(found - body.begin());
    if (parts.size() == k_most_parts) refuse("it has too many parts");
    parts.push_back(part_of(body.substr(2, end - 2)));
    body.remove_prefix(end + next.size());
  }
  return parts;
}

}  // namespace navtalk::server
