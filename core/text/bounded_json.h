// JSON from outside, parsed with bounds: a text that is nested deeply costs far more memory than its size, and destroying
// what was made of it recurses. Stateless.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <variant>

namespace navtalk {

struct JsonBounds {
  std::size_t bytes = 0;     // of the text
  int levels = 0;            // of objects and arrays in one another; a number has none
  bool unique_keys = false;  // a key twice in one object is refused; otherwise the last one counts
};

struct JsonRefusal {
  enum class Why : std::uint8_t { too_large, too_deep, repeated_key, malformed } why{};
  std::string detail{};  // the key, or what is wrong with the text
};

// The value, or why there is none. What is too deep or too large is refused before a tree of it is built.
std::variant<nlohmann::json, JsonRefusal> parse_bounded(std::string_view text, JsonBounds bounds);

}  // namespace navtalk
