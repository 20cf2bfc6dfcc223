// Text without the blanks around it.
#pragma once

#include <string_view>

namespace navtalk {

// Without spaces, tabs and line ends at its start and its end; a part of `text`.
constexpr std::string_view trim(std::string_view text) {
  constexpr std::string_view k_blanks = " \t\r\n";
  const std::size_t first = text.find_first_not_of(k_blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(k_blanks) - first + 1);
}

}  // namespace navtalk
