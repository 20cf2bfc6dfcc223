#include "core/text/csv_record.h"

#include <algorithm>

namespace navtalk {
namespace {

constexpr std::string_view k_blanks = " \t";

void drop_blanks(std::string_view& rest) {
  rest.remove_prefix(std::min(rest.find_first_not_of(k_blanks), rest.size()));
}

}  // namespace

void CsvRecord::clear() {
  fields_.clear();
  quoted_ = false;
}

// To behind the closing quote; false when this line has none.
bool CsvRecord::take_quoted(std::string_view& rest) {
  while (true) {
    const std::size_t quote = rest.find('"');
    fields_.back() += rest.substr(0, quote);
    if (quote == std::string_view::npos) return false;
    rest.remove_prefix(quote + 1);
    if (!rest.starts_with('"')) return true;
    fields_.back() += '"';
    rest.remove_prefix(1);
  }
}

CsvRecord::Reading CsvRecord::add(std::string_view line) {
  if (quoted_) fields_.back() += '\n';
  while (true) {
    if (!quoted_) {
      fields_.emplace_back();
      drop_blanks(line);
      quoted_ = line.starts_with('"');
      if (quoted_) line.remove_prefix(1);
    }
    if (quoted_) {
      if (!take_quoted(line)) return Reading::goes_on;
      quoted_ = false;
      drop_blanks(line);
      if (!line.empty() && line.front() != ',') return Reading::stray;
    } else {
      const std::string_view field = line.substr(0, line.find(','));
      fields_.back() = field.substr(0, field.find_last_not_of(k_blanks) + 1);
      line.remove_prefix(field.size());
    }
    if (line.empty()) return Reading::complete;
    line.remove_prefix(1);
  }
}

}  // namespace navtalk
