// What is asked of one video in words: infer's options by their names. Of a row of a CSV file, or of a job
// that came over the network.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "cmd/infer/infer.h"

namespace navtalk::cmd {

// By the option's name without its dashes; cells that are empty are not there.
using Cells = std::map<std::string, std::string, std::less<>>;

// "" for one that is not there.
std::string cell(const Cells& cells, std::string_view column);
// Of a column that is true or false, false where it is missing. Error{invalid} names the column.
bool is_set(const Cells& cells, std::string_view column);

// Through infer's own command line, so that the same values are accepted. Error{invalid} names the option.
void apply_cells(const Cells& cells, InferOptions& options);

// The same for many rows, whose command line is made once.
class CellParser {
 public:
  CellParser();
  ~CellParser();
  CellParser(const CellParser&) = delete;
  CellParser& operator=(const CellParser&) = delete;

  // As apply_cells().
  void apply(const Cells& cells, InferOptions& options);

 private:
  struct Parts;
  const std::unique_ptr<Parts> parts_;
};

}  // namespace navtalk::cmd
