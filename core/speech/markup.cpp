#include "core/speech/markup.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <utility>

#include "core/text/characters.h"

namespace navtalk {
namespace {

bool begins_tag(std::string_view rest) {
  if (rest.size() < 2 || rest[0] != '<') return false;
  const char next = rest[1];
  return (next >= 'a' && next <= 'z') || (next >= 'A' && next <= 'Z') || next == '/' ||
         next == '!' || next == '?';
}

// Finds the ends of tags from the first to the last. What is missing once is missing for all that follow, and is not
// searched again: a text of open tags alone takes one pass.
class TagEnds {
 public:
  // One past the end of the tag that `rest` begins with; npos where it has none.
  std::size_t of(std::string_view rest) {
    const bool comment = rest.starts_with("<!--");
    bool& missing = comment ? no_comment_ends_ : no_tag_ends_;
    if (missing) return std::string_view::npos;
    const std::string_view close = comment ? "-->" : ">";
    const std::size_t at = rest.find(close);
    missing = at == std::string_view::npos;
    return missing ? at : at + close.size();
  }

 private:
  bool no_tag_ends_ = false, no_comment_ends_ = false;
};

// Whether the tag's name, which begins here, begins as that of sounds. Of a character in the name espeak-ng looks at the lowest
// byte alone, which makes "\u0161udio" the same.
bool begins_audio(std::string_view name) {
  for (const char letter : std::string_view("audio")) {
    if (name.empty()) return false;
    const char32_t low = take_character(name) & 0xFFU;
    const char32_t lower = low >= 'A' && low <= 'Z' ? low - 'A' + 'a' : low;
    if (lower != static_cast<char32_t>(letter)) return false;
  }
  return true;
}

// Of a reference, between '&' and ';'.
bool is_name(std::string_view text) {
  return std::ranges::all_of(text, [](char c) {
    return c == '#' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  });
}

// What that name stands for.
std::string referenced(std::string_view name) {
  constexpr std::pair<std::string_view, std::string_view> k_names[] = {
      {"amp", "&"}, {"lt", "<"}, {"gt", ">"}, {"quot", "\""}, {"apos", "'"}};
  for (const auto& [known, character] : k_names)
    if (name == known) return std::string(character);
  if (!name.starts_with('#')) return " ";
  name.remove_prefix(1);
  const bool hex = name.starts_with('x') || name.starts_with('X');
  if (hex) name.remove_prefix(1);
  std::uint32_t number = 0;
  const auto [rest, error] =
      std::from_chars(name.data(), name.data() + name.size(), number, hex ? 16 : 10);
  return error == std::errc() && rest == name.data() + name.size() ? utf8_of(number) : " ";
}

}  // namespace

std::string without_tags(std::string_view text, std::string_view instead) {
  std::string plain;
  TagEnds ends;
  while (!text.empty()) {
    const std::size_t end = begins_tag(text) ? ends.of(text) : std::string_view::npos;
    if (end == std::string_view::npos) {
      plain += text.front();
      text.remove_prefix(1);
    } else {
      plain += instead;  // a space: words on both sides stay two words
      text.remove_prefix(end);
    }
  }
  return plain;
}

std::string without_references(std::string_view text) {
  constexpr std::size_t k_longest = 12;  // "&#x0010FFFF;"
  std::string plain;
  while (!text.empty()) {
    const std::size_t end = text.front() == '&' ? text.substr(0, k_longest).find(';') : 0;
    if (end == 0 || end == std::string_view::npos || !is_name(text.substr(1, end - 1))) {
      plain += text.front();
      text.remove_prefix(1);
    } else {
      plain += referenced(text.substr(1, end - 1));
      text.remove_prefix(end + 1);
    }
  }
  return plain;
}

// Renamed and not removed, since espeak-ng and we may disagree on where a tag ends.
std::string without_sounds(std::string_view text) {
  std::string rest;
  while (!text.empty()) {
    rest += text.front();
    const bool begins = text.front() == '<';
    text.remove_prefix(1);
    if (begins && begins_audio(text)) rest += "no-";
  }
  return rest;
}

std::string without_commands(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < ' ' && c != '\n' && c != '\t') c = ' ';
  return text;
}

}  // namespace navtalk
