#include "core/speech/markup.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <optional>
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

// espeak-ng takes any letter for a tag's first, of whatever writing.
bool may_begin_tag(std::string_view rest) {
  return begins_tag(rest) ||
         (rest.size() > 1 && rest[0] == '<' && static_cast<unsigned char>(rest[1]) >= 0x80);
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

// As espeak-ng reads the name that begins here: of a character the lowest byte alone, which makes "\u0161udio" the same as "audio".
std::string tag_name(std::string_view rest) {
  constexpr std::size_t k_longest = 40;
  constexpr std::string_view k_behind = " \t\r\n/>";
  std::string name;
  while (!rest.empty() && name.size() < k_longest &&
         k_behind.find(rest.front()) == std::string_view::npos) {
    const auto low = static_cast<char>(take_character(rest) & 0xFFU);
    if (low == 0) break;
    name += low >= 'A' && low <= 'Z' ? static_cast<char>(low - 'A' + 'a') : low;
  }
  return name;
}

// espeak-ng takes what stands on both sides of such a tag for one word, and of all others for two.
bool stands_in_words(std::string_view tag) {
  tag.remove_prefix(tag.starts_with("</") ? 2 : 1);
  const std::string name = tag_name(tag);
  constexpr std::string_view k_names[] = {"b", "i", "font", "strong", "em", "code"};
  return std::ranges::find(k_names, name) != std::end(k_names);
}

// Whether that tag begins or ends what espeak-ng does not speak; nullopt: neither. It ends at the next end of such a name,
// whichever it is, and one that is empty ("<script/>") does not begin.
std::optional<bool> begins_unspoken(std::string_view tag) {
  constexpr std::string_view k_names[] = {"metadata", "script", "style"};
  const bool ends = tag.starts_with("</");
  if (tag.ends_with("/>")) return std::nullopt;
  tag.remove_prefix(ends ? 2 : 1);
  if (std::ranges::find(k_names, tag_name(tag)) == std::end(k_names)) return std::nullopt;
  return !ends;
}

// The text by its tags and what stands between them: `take(piece, is_tag)`.
void take_pieces(std::string_view text, auto begins, auto take) {
  TagEnds ends;
  while (!text.empty()) {
    const std::size_t end = begins(text) ? ends.of(text) : std::string_view::npos;
    const bool is_tag = end != std::string_view::npos;
    const std::size_t size = is_tag ? end : 1;
    take(text.substr(0, size), is_tag);
    text.remove_prefix(size);
  }
}

// With what `instead_of` gives for each tag.
std::string with_tags_as(std::string_view text, auto begins, auto instead_of) {
  std::string plain;
  take_pieces(text, begins, [&](std::string_view piece, bool is_tag) {
    if (is_tag) {
      plain += instead_of(piece);
    } else {
      plain += piece;
    }
  });
  return plain;
}

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_' || c == ':' || c == '.';
}

std::string_view take_name(std::string_view& rest) {
  const auto* const end = std::ranges::find_if_not(rest, is_name_character);
  const std::string_view name = rest.substr(0, static_cast<std::size_t>(end - rest.begin()));
  rest.remove_prefix(name.size());
  return name;
}

bool take_space(std::string_view& rest) {
  const std::size_t before = rest.size();
  while (!rest.empty() && is_space(rest.front())) rest.remove_prefix(1);
  return rest.size() < before;
}

// name="value" or name='value'
bool take_attribute(std::string_view& rest) {
  if (take_name(rest).empty()) return false;
  take_space(rest);
  if (!rest.starts_with('=')) return false;
  rest.remove_prefix(1);
  take_space(rest);
  if (rest.empty() || (rest.front() != '"' && rest.front() != '\'')) return false;
  const std::size_t end = rest.find(rest.front(), 1);
  if (end == std::string_view::npos) return false;
  rest.remove_prefix(end + 1);
  return true;
}

// Whether that is a tag, well formed, of an element of SSML 1.1, or <?...?>.
bool is_ssml(std::string_view tag) {
  constexpr std::string_view k_elements[] = {"audio",   "break",   "desc",  "emphasis", "lexicon",
                                             "lookup",  "mark",    "meta",  "metadata", "p",
                                             "phoneme", "prosody", "s",     "say-as",   "speak",
                                             "sub",     "token",   "voice", "w"};
  if (tag.starts_with("<?")) return true;
  const bool ends = tag.starts_with("</");
  std::string_view rest = tag.substr(ends ? 2 : 1, tag.size() - (ends ? 3 : 2));
  if (std::ranges::find(k_elements, take_name(rest)) == std::end(k_elements)) return false;
  bool spaced = take_space(rest);
  while (!ends && spaced && !rest.empty() && rest != "/") {
    if (!take_attribute(rest)) return false;
    spaced = take_space(rest);
  }
  return rest.empty() || (!ends && rest == "/");
}

// Of the tag of SSML, or the comment, that `rest` begins with; 0: it begins with neither. Within a tag there is no '<'.
std::size_t ssml_size(std::string_view rest, TagEnds& ends) {
  if (rest.starts_with("<!--")) {
    const std::size_t end = ends.of(rest);
    return end == std::string_view::npos ? 0 : end;
  }
  const std::size_t end = rest.find_first_of("<>", 1);
  if (end == std::string_view::npos || rest[end] == '<') return 0;
  return is_ssml(rest.substr(0, end + 1)) ? end + 1 : 0;
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

// A space by default: words on both sides stay two words.
std::string without_tags(std::string_view text, std::string_view instead) {
  return with_tags_as(text, begins_tag, [instead](std::string_view) { return instead; });
}

std::string without_ssml(std::string_view text) {
  std::string plain;
  TagEnds ends;
  while (!text.empty()) {
    const std::size_t size = begins_tag(text) ? ssml_size(text, ends) : 0;
    plain += size > 0 ? ' ' : text.front();
    text.remove_prefix(std::max<std::size_t>(size, 1));
  }
  return plain;
}

std::string without_tags_in_words(std::string_view text) {
  return with_tags_as(text, may_begin_tag, [](std::string_view tag) -> std::string_view {
    return stands_in_words(tag) ? "" : " ";
  });
}

std::string without_unspoken(std::string_view text) {
  std::string rest;
  bool spoken = true;
  take_pieces(text, may_begin_tag, [&](std::string_view piece, bool is_tag) {
    if (is_tag) spoken = !begins_unspoken(piece).value_or(!spoken);
    if (is_tag || spoken) rest += piece;
  });
  return rest;
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
    if (begins && tag_name(text).starts_with("audio")) rest += "no-";
  }
  return rest;
}

std::string without_commands(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < ' ' && c != '\n' && c != '\t') c = ' ';
  return text;
}

}  // namespace navtalk
