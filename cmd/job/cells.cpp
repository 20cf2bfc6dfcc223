#include "cmd/job/cells.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <vector>

#include "core/base/error.h"
#include "core/text/printable.h"

namespace navtalk::cmd {
namespace {

constexpr std::array<std::string_view, 2> k_flags = {"ssml", "match-colour"};

}  // namespace

std::string cell(const Cells& cells, std::string_view column) {
  const auto found = cells.find(column);
  return found == cells.end() ? std::string() : found->second;
}

bool is_set(const Cells& cells, std::string_view column) {
  const auto found = cells.find(column);
  if (found == cells.end()) return false;
  const std::string& text = found->second;
  if (text == "true" || text == "yes" || text == "1") return true;
  if (text == "false" || text == "no" || text == "0") return false;
  throw Error(Code::invalid,
              fmt::format("{} is '{}': write true or false", column, printable(text)));
}

struct CellParser::Parts {
  Parts() { add_infer_options(command, options); }

  InferOptions options{};  // that the command line writes to
  CLI::App command{};
};

CellParser::CellParser() : parts_(std::make_unique<Parts>()) {}
CellParser::~CellParser() = default;

void CellParser::apply(const Cells& cells, InferOptions& options) {
  std::vector<std::string> arguments;
  for (const auto& [column, value] : cells) {
    const bool flag = std::find(k_flags.begin(), k_flags.end(), column) != k_flags.end();
    if (!flag) arguments.push_back(fmt::format("--{}={}", column, value));
    if (flag && is_set(cells, column)) arguments.push_back("--" + column);
  }
  parts_->options = options;
  try {
    parts_->command.parse(arguments);
  } catch (const CLI::ParseError& error) {
    options = parts_->options;  // what was read before it, for whoever tells of the row
    throw Error(Code::invalid, error.what());
  }
  options = parts_->options;
}

void apply_cells(const Cells& cells, InferOptions& options) { CellParser().apply(cells, options); }

}  // namespace navtalk::cmd
