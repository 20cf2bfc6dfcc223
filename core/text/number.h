// Numbers in text, independent of the locale.
#pragma once

#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <type_traits>

namespace navtalk {

// Takes the number at the start of `text` off it. nullopt leaves `text` as it is: no number is
// there, it does not fit the type, or it is not finite. A sign is '-' only; blanks are not skipped.
// `base` is for whole numbers.
template <class Number>
std::optional<Number> take_number(std::string_view& text, int base = 10) {
  Number number{};
  std::from_chars_result read{};
  if constexpr (std::is_floating_point_v<Number>) {
    read = std::from_chars(text.data(), text.data() + text.size(), number);
    if (!std::isfinite(number)) return std::nullopt;
  } else {
    read = std::from_chars(text.data(), text.data() + text.size(), number, base);
  }
  if (read.ec != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()));
  return number;
}

// The same of the whole text: nullopt also when something follows the number.
template <class Number>
std::optional<Number> parse_number(std::string_view text, int base = 10) {
  const std::optional<Number> number = take_number<Number>(text, base);
  return text.empty() ? number : std::nullopt;
}

}  // namespace navtalk
