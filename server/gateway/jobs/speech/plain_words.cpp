#include "server/gateway/jobs/speech/plain_words.h"

#include <algorithm>
#include <array>

#include "core/speech/markup.h"
#include "core/text/characters.h"

namespace navtalk::server {
namespace {

using Range = std::array<char32_t, 2>;

// Format characters, variation selectors, fillers and tags of Unicode, which have no width.
constexpr Range k_unseen[] = {
    {0xAD, 0xAD},     {0x34F, 0x34F},   {0x61C, 0x61C},   {0x115F, 0x1160}, {0x17B4, 0x17B5},
    {0x180B, 0x180F}, {0x200B, 0x200F}, {0x202A, 0x202E}, {0x2060, 0x206F}, {0x3164, 0x3164},
    {0xFE00, 0xFE0F}, {0xFEFF, 0xFEFF}, {0xFFA0, 0xFFA0}, {0xFFF9, 0xFFFB}, {0xE0000, 0xE0FFF}};
constexpr Range k_spaces[] = {{0x80, 0xA0},     {0x1680, 0x1680}, {0x2000, 0x200A},
                              {0x2028, 0x2029}, {0x202F, 0x202F}, {0x205F, 0x205F},
                              {0x3000, 0x3000}};

bool is_in(const auto& ranges, char32_t character) {
  return std::ranges::any_of(ranges, [character](const Range& range) {
    return character >= range[0] && character <= range[1];
  });
}

char32_t folded(char32_t character) {
  constexpr char32_t k_first_wide = 0xFF01, k_last_wide = 0xFF5E, k_first = '!';
  if (character >= k_first_wide && character <= k_last_wide) character -= k_first_wide - k_first;
  return character >= 'A' && character <= 'Z' ? character - 'A' + 'a' : character;
}

// U+0000: a stray byte, which belongs to a word as a letter does.
bool is_word(char32_t character) {
  if (character >= 0x80) return !is_in(k_spaces, character);
  return character == 0 || (character >= '0' && character <= '9') ||
         (character >= 'a' && character <= 'z');
}

}  // namespace

std::string plain_words(std::string_view text) {
  std::string words;
  bool apart = false;
  while (!text.empty()) {
    const char stray = text.front();
    const char32_t character = folded(take_character(text));
    if (is_in(k_unseen, character)) continue;
    if (!is_word(character)) {
      apart = !words.empty();
      continue;
    }
    if (apart) words += ' ';
    apart = false;
    words += character == 0 ? std::string{stray} : utf8_of(character);
  }
  return words;
}

std::vector<std::string> heard_words(std::string_view text) {
  std::vector<std::string> heard = {plain_words(text)};
  for (const std::string& part : {std::string(text), without_unspoken(text)}) {
    for (const std::string& form :
         {part, without_tags(part), without_tags(part, ""), without_tags_in_words(part)}) {
      std::string words = plain_words(without_references(form));
      if (std::ranges::find(heard, words) == heard.end()) heard.push_back(std::move(words));
    }
  }
  return heard;
}

}  // namespace navtalk::server
