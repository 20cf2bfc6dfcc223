// Names as people and JSON may see them: file names are bytes, and not all bytes may be printed.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace navtalk {

bool is_utf8(std::string_view bytes);
// Well-formed UTF-8 stays; control characters, backslashes and stray bytes become \r, \n, \t, \\ or
// \xNN, so that the result is one line and can be read back.
std::string printable(std::string_view bytes);
// As printable, of what may be long: at most `longest` of its bytes, and how many there were.
std::string printable_start(std::string_view bytes, std::size_t longest);
// As printable for text whose line breaks and backslashes mean themselves: messages.
std::string printable_text(std::string_view bytes);
// The same as one line: line breaks, tabs and spaces that follow each other become one space. For
// messages of libraries.
std::string printable_line(std::string_view bytes);
// Lower-case hexadecimal digits, two a byte.
std::string hex(std::string_view bytes);

}  // namespace navtalk
