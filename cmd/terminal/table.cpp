#include "cmd/terminal/table.h"

#include <algorithm>
#include <cstddef>

namespace navtalk::cmd {
namespace {

std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char byte) {
    return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U;
  }));
}

std::string line(const std::vector<Column>& columns, const std::vector<std::string>& cells,
                 const std::vector<std::size_t>& widths) {
  std::string text;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::string padding(widths[i] - width(cells[i]), ' ');
    if (i != 0) text += "  ";
    text += columns[i].align == Column::Align::right ? padding + cells[i] : cells[i] + padding;
  }
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

}  // namespace

std::string table(const std::vector<Column>& columns,
                  const std::vector<std::vector<std::string>>& rows, bool bold_heading) {
  std::vector<std::string> headings;
  std::vector<std::size_t> widths;
  for (const Column& column : columns) {
    headings.push_back(column.heading);
    widths.push_back(width(column.heading));
  }
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));
  }
  const std::string heading = line(columns, headings, widths);
  std::string text = (bold_heading ? "\x1b[1m" + heading + "\x1b[0m" : heading) + "\n";
  for (const auto& row : rows) text += line(columns, row, widths) + "\n";
  return text;
}

}  // namespace navtalk::cmd
