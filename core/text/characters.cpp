#include "core/text/characters.h"

#include <cstddef>

namespace navtalk {

char32_t take_character(std::string_view& text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  const std::size_t size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
  bool whole = (size > 1 || lead < 0x80) && size <= text.size();
  char32_t value = size == 1 ? lead : lead & (0xFFU >> (size + 1));
  for (std::size_t i = 1; whole && i < size; ++i) {
    whole = (byte(i) & 0xC0U) == 0x80U;
    value = value << 6U | (byte(i) & 0x3FU);
  }
  text.remove_prefix(whole ? size : 1);
  return whole ? value : 0;
}

std::string utf8_of(char32_t character) {
  if (character > 0x10FFFF || (character >= 0xD800 && character < 0xE000)) return "";
  if (character < 0x80) return {static_cast<char>(character)};
  const int more = character < 0x800 ? 1 : character < 0x10000 ? 2 : 3;
  constexpr unsigned k_leads[] = {0, 0xC0, 0xE0, 0xF0};
  std::string bytes = {static_cast<char>(k_leads[more] | character >> (6 * more))};
  for (int i = more; i-- > 0;) bytes += static_cast<char>(0x80U | (character >> (6 * i) & 0x3FU));
  return bytes;
}

}  // namespace navtalk
