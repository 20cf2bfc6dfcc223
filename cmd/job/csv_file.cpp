#include "cmd/job/csv_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/base/error.h"
#include "core/text/csv_record.h"
#include "core/text/printable.h"

namespace navtalk::cmd {
namespace {

constexpr std::string_view k_byte_order_mark = "\xEF\xBB\xBF";

class CsvReader {
 public:
  CsvReader(std::string_view text, const std::string& name) : rest_(text), name_(name) {
    if (rest_.starts_with(k_byte_order_mark)) rest_.remove_prefix(k_byte_order_mark.size());
  }

  // False at the end.
  bool next(std::vector<std::string>& fields) {
    using Reading = CsvRecord::Reading;
    if (rest_.empty()) return false;
    record_.clear();
    const std::size_t first = line_ + 1;
    Reading reading = record_.add(line());
    while (reading == Reading::goes_on) {
      if (rest_.empty()) refuse(first, "has a quote that is not closed");
      reading = record_.add(line());
    }
    if (reading == Reading::stray) refuse(line_, "has text behind a closing quote");
    fields = record_.fields();
    return true;
  }

  [[noreturn]] void refuse(std::size_t line, const std::string& what) const {
    throw Error(Code::invalid, fmt::format("{}: line {} {}", name_, line, what));
  }

 private:
  std::string_view line() {
    const std::size_t end = rest_.find('\n');
    std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    ++line_;
    return line;
  }

  std::string_view rest_;
  const std::string& name_;
  CsvRecord record_;
  std::size_t line_ = 0;
};

bool blank(const std::vector<std::string>& fields) {
  return fields.size() == 1 && fields.front().empty();
}

void check_heading(const std::vector<std::string>& columns, const std::string& name) {
  std::set<std::string> seen;
  for (const std::string& column : columns) {
    if (column.empty())
      throw Error(Code::invalid, name + ": the heading has a column without a name");
    if (!seen.insert(column).second)
      throw Error(Code::invalid,
                  fmt::format("{}: the heading has the column {} twice", name, printable(column)));
  }
}

}  // namespace

std::optional<std::size_t> CsvFile::column(std::string_view name) const {
  const auto found = std::ranges::find(columns, name);
  if (found == columns.end()) return std::nullopt;
  return static_cast<std::size_t>(found - columns.begin());
}

CsvFile parse_csv(const std::string& text, const std::string& name) {
  if (text.find('\0') != std::string::npos)
    throw Error(Code::invalid, name + " has a NUL byte: save it as CSV in UTF-8");
  CsvReader reader(text, name);
  CsvFile file;
  std::vector<std::string> fields;
  for (std::size_t number = 1; reader.next(fields); ++number) {
    if (blank(fields)) continue;
    if (file.columns.empty()) {
      check_heading(fields, name);
      file.columns = fields;
    } else {
      file.rows.push_back({.number = number, .fields = fields});
    }
  }
  if (file.columns.empty()) throw Error(Code::invalid, name + " has no heading");
  if (file.rows.empty()) throw Error(Code::invalid, name + " has no rows below its heading");
  return file;
}

}  // namespace navtalk::cmd
