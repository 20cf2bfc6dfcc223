#include "core/text/printable.h"

#include <cstddef>
#include <cstdint>

namespace navtalk {
namespace {

bool continuation(std::string_view bytes, std::size_t at) {
  return at < bytes.size() && (static_cast<std::uint8_t>(bytes[at]) & 0xC0U) == 0x80U;
}

// Length of the well-formed character at the front (RFC 3629: shortest form, no surrogates), else
// 0.
std::size_t utf8_length(std::string_view bytes) {
  const auto first = static_cast<std::uint8_t>(bytes[0]);
  const auto second = static_cast<std::uint8_t>(bytes.size() > 1 ? bytes[1] : 0);
  if (first < 0x80) return 1;
  if (first < 0xC2 || first > 0xF4) return 0;
  if (first < 0xE0) return continuation(bytes, 1) ? 2 : 0;
  if (first < 0xF0) {
    const bool shortest = first != 0xE0 || second >= 0xA0;
    const bool surrogate = first == 0xED && second >= 0xA0;
    return shortest && !surrogate && continuation(bytes, 1) && continuation(bytes, 2) ? 3 : 0;
  }
  const bool in_range = (first != 0xF0 || second >= 0x90) && (first != 0xF4 || second < 0x90);
  return in_range && continuation(bytes, 1) && continuation(bytes, 2) && continuation(bytes, 3) ? 4
                                                                                                : 0;
}

void append_escaped(std::string& text, char byte) {
  switch (byte) {
    case '\r':
      text += "\\r";
      break;
    case '\n':
      text += "\\n";
      break;
    case '\t':
      text += "\\t";
      break;
    case '\\':
      text += "\\\\";
      break;
    default:
      text += "\\x" + hex(std::string_view(&byte, 1));
  }
}

// C0 and DEL (one byte), C1 (0xC2 0x80 to 0xC2 0x9F): a terminal would obey them.
bool is_control(std::string_view character) {
  const auto first = static_cast<std::uint8_t>(character[0]);
  if (character.size() == 1) return first < 0x20 || first == 0x7F;
  return first == 0xC2 && static_cast<std::uint8_t>(character[1]) < 0xA0;
}

// Escapes control characters, stray bytes and `also`, but not `never`.
std::string escaped(std::string_view bytes, std::string_view also, std::string_view never) {
  std::string text;
  while (!bytes.empty()) {
    const std::size_t length = utf8_length(bytes);
    const std::string_view character = bytes.substr(0, length == 0 ? 1 : length);
    const bool escape = length == 0 || is_control(character) || character == also;
    if (escape && character != never) {
      for (const char byte : character) append_escaped(text, byte);
    } else {
      text += character;
    }
    bytes.remove_prefix(character.size());
  }
  return text;
}

}  // namespace

bool is_utf8(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t length = utf8_length(bytes);
    if (length == 0) return false;
    bytes.remove_prefix(length);
  }
  return true;
}

std::string printable(std::string_view bytes) { return escaped(bytes, "\\", ""); }

std::string printable_start(std::string_view bytes, std::size_t longest) {
  if (bytes.size() <= longest) return printable(bytes);
  std::size_t end = longest;
  // Not within a character, which has four bytes at most; stray ones may go on for ever.
  while (end > 0 && end + 3 > longest && continuation(bytes, end)) --end;
  if (continuation(bytes, end)) end = longest;
  return printable(bytes.substr(0, end)) + "... (" + std::to_string(bytes.size()) + " bytes)";
}

std::string printable_text(std::string_view bytes) { return escaped(bytes, "", "\n"); }

std::string printable_line(std::string_view bytes) {
  std::string line;
  for (const char byte : bytes) {
    const bool space = byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r';
    if (!space) {
      line += byte;
    } else if (!line.empty() && line.back() != ' ') {
      line += ' ';
    }
  }
  if (line.ends_with(' ')) line.pop_back();
  return printable_text(line);
}

std::string hex(std::string_view bytes) {
  constexpr std::string_view k_digits = "0123456789abcdef";
  std::string text;
  for (const char byte : bytes) {
    const auto value = static_cast<std::uint8_t>(byte);
    text += k_digits[value >> 4U];
    text += k_digits[value & 0xFU];
  }
  return text;
}

}  // namespace navtalk
