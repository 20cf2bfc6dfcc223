#include "core/speech/markup.h"

namespace navtalk {
namespace {

bool begins_tag(std::string_view rest) {
  if (rest.size() < 2 || rest[0] != '<') return false;
  const char next = rest[1];
  return (next >= 'a' && next <= 'z') || (next >= 'A' && next <= 'Z') || next == '/' ||
         next == '!' || next == '?';
}

// One past the end of the tag that `rest` begins with; npos where it has none.
std::size_t tag_end(std::string_view rest) {
  const std::string_view close = rest.starts_with("<!--") ? "-->" : ">";
  const std::size_t at = rest.find(close);
  return at == std::string_view::npos ? at : at + close.size();
}

}  // namespace

std::string without_tags(std::string_view text) {
  std::string plain;
  while (!text.empty()) {
    const std::size_t end = begins_tag(text) ? tag_end(text) : std::string_view::npos;
    if (end == std::string_view::npos) {
      plain += text.front();
      text.remove_prefix(1);
    } else {
      plain += ' ';  // words on both sides stay two words
      text.remove_prefix(end);
    }
  }
  return plain;
}

std::string without_commands(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < ' ' && c != '\n' && c != '\t') c = ' ';
  return text;
}

}  // namespace navtalk
