#include "core/speech/sentences.h"

#include <algorithm>
#include <array>

#include "core/text/trim.h"

namespace navtalk {
namespace {

// Ends of sentences; those without Latin spaces behind them end one at once.
constexpr std::array<std::string_view, 5> k_ends = {".", "!", "?", "\u2026", "\u061F"};
constexpr std::array<std::string_view, 4> k_wide_ends = {"\u3002", "\uFF01", "\uFF1F", "\u0964"};
constexpr std::string_view k_closing = "\"')]";

template <std::size_t n>
bool ends_with_any(std::string_view text, const std::array<std::string_view, n>& ends) {
  return std::ranges::any_of(ends, [text](std::string_view end) { return text.ends_with(end); });
}

std::string with_single_spaces(std::string_view text) {
  std::string result;
  for (const char byte : text) {
    const bool space = byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r';
    if (!space) result += byte;
    if (space && !result.empty() && result.back() != ' ') result += ' ';
  }
  return std::string(trim(result));
}

bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; }

std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char byte) { return !is_continuation(byte); }));
}

// Where the text can be cut so that at most `most` characters stand before: the last mark if
// there is one in the second half, else the last space, else the last whole character.
std::size_t cut_before(std::string_view text, std::size_t most, std::string_view marks) {
  std::size_t at = 0, seen = 0, space = 0, mark = 0;
  for (; at < text.size(); ++at) {
    if (!is_continuation(text[at]) && seen++ == most) break;
    if (text[at] != ' ') continue;
    space = at;
    if (marks.find(text[at - 1]) != std::string_view::npos && seen > most / 2) mark = at;
  }
  if (at == text.size()) return at;
  return mark > 0 ? mark : space > 0 ? space : at;
}

std::vector<std::string> cut(std::string_view text, std::size_t most, std::string_view marks) {
  std::vector<std::string> pieces;
  while (!text.empty()) {
    const std::size_t end = cut_before(text, most, marks);
    pieces.emplace_back(trim(text.substr(0, end)));
    text = trim(text.substr(end));
  }
  return pieces;
}

}  // namespace

std::vector<std::string> sentences_of(std::string_view text) {
  const std::string plain = with_single_spaces(text);
  std::vector<std::string> sentences;
  std::string current;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    current += plain[i];
    std::string_view shown = current;
    while (!shown.empty() && k_closing.find(shown.back()) != std::string_view::npos)
      shown.remove_suffix(1);
    const bool space_follows = i + 1 < plain.size() && plain[i + 1] == ' ';
    if (!ends_with_any(shown, k_wide_ends) && !(space_follows && ends_with_any(shown, k_ends)))
      continue;
    sentences.emplace_back(trim(current));
    current.clear();
  }
  if (!trim(current).empty()) sentences.emplace_back(trim(current));
  return sentences;
}

std::vector<std::string> parts_of(std::string_view sentence, std::size_t most) {
  const std::size_t count = (characters(sentence) + most - 1) / std::max<std::size_t>(most, 1);
  // Parts of like length: a last one of a single word reads badly.
  const std::size_t even =
      count <= 1 ? most : std::min(most, characters(sentence) / count + most / 4);
  return cut(sentence, even, ",;:");
}

std::vector<std::string> lines_of(std::string_view part, std::size_t most) {
  return cut(part, most, "");
}

}  // namespace navtalk
