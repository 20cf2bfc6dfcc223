// A CSV file with a heading, by RFC 4180; a byte order mark and CRLF are accepted, and lines without
// anything on them are passed over. A value.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace navtalk::cmd {

struct CsvRow {
  std::size_t number = 0;  // as a spreadsheet counts: the heading is row 1
  std::vector<std::string> fields{};
};

struct CsvFile {
  std::vector<std::string> columns{};
  std::vector<CsvRow> rows{};

  std::optional<std::size_t> column(std::string_view name) const;
};

// Error{invalid}, with `name` and the line, for text that is not CSV, without rows, or with a heading
// that has a column twice or one without a name.
CsvFile parse_csv(const std::string& text, const std::string& name);

}  // namespace navtalk::cmd
