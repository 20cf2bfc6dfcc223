#include "core/text/base64url.h"

#include <cstdint>

namespace navtalk {
namespace {

constexpr std::string_view k_base64url_digits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

}  // namespace

std::string base64url(std::string_view bytes) {
  std::string text;
  std::uint32_t held = 0;
  int bits = 0;
  for (const char byte : bytes) {
    held = held << 8 | static_cast<unsigned char>(byte);
    for (bits += 8; bits >= 6; bits -= 6) text += k_base64url_digits[held >> (bits - 6) & 63];
  }
  if (bits > 0) text += k_base64url_digits[held << (6 - bits) & 63];
  return text;
}

std::optional<std::string> from_base64url(std::string_view text) {
  std::string bytes;
  std::uint32_t held = 0;
  int bits = 0;
  for (const char digit : text) {
    const std::size_t value = k_base64url_digits.find(digit);
    if (value == std::string_view::npos) return std::nullopt;
    held = held << 6 | static_cast<std::uint32_t>(value);
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes += static_cast<char>(held >> bits & 255);
  }
  // What is left over is less than a digit, of zeros.
  if (bits >= 6 || (held & ((1U << bits) - 1)) != 0) return std::nullopt;
  return bytes;
}

}  // namespace navtalk
