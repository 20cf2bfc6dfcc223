// Characters of UTF-8. Pure.
#pragma once

#include <string>
#include <string_view>

namespace navtalk {

// Takes the first character off a text that is not empty. A byte that begins none is U+0000, and is taken alone.
char32_t take_character(std::string_view& text);
// Empty for surrogates and for numbers beyond U+10FFFF.
std::string utf8_of(char32_t character);

}  // namespace navtalk
