// Aligned columns for people: a heading, rows of text, numbers to the right.
#pragma once

#include <string>
#include <vector>

namespace navtalk::cmd {

struct Column {
  std::string heading;
  enum class Align { left, right } align = Align::left;
};

// Lines end in "\n" and carry no trailing spaces; widths count UTF-8 characters. Rows may be
// shorter than the heading. `bold_heading` adds the terminal's codes.
std::string table(const std::vector<Column>& columns,
                  const std::vector<std::vector<std::string>>& rows, bool bold_heading = false);

}  // namespace navtalk::cmd
