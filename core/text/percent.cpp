#include "core/text/percent.h"

namespace navtalk {
namespace {

// As ASCII, whatever the locale.
bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_';
}

}  // namespace

std::string percent_encoded(std::string_view text) {
  constexpr std::string_view k_digits = "0123456789ABCDEF";
  std::string result;
  for (const char c : text) {
    if (is_plain(c)) {
      result += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      result += {'%', k_digits[byte >> 4], k_digits[byte & 15]};
    }
  }
  return result;
}

}  // namespace navtalk
