// One record of a CSV file, by RFC 4180: fields between commas; one in quotes may hold commas, line
// ends and quotes, these doubled. Blanks around a field are dropped. A value, filled line by line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace navtalk {

class CsvRecord {
 public:
  enum class Reading {
    complete,
    goes_on,  // a quoted field is not closed yet: the next line belongs to it
    stray,    // text behind a closing quote
  };

  // Takes in the record's next line, without its line end.
  Reading add(std::string_view line);
  void clear();

  const std::vector<std::string>& fields() const { return fields_; }

 private:
  bool take_quoted(std::string_view& rest);

  std::vector<std::string> fields_{};
  bool quoted_ = false;  // the last field's quote is open
};

}  // namespace navtalk
