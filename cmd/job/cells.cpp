#include "cmd/job/cells.h"

#include <CLI/CLI.hpp>
#include <vector>

#include "core/base/error.h"
#include "core/text/printable.h"

namespace navtalk::cmd {
namespace {

bool is_yes(const std::string& text) {
  if (text == "true" || text == "yes" || text == "1") return true;
  if (text == "false" || text == "no" || text == "0") return false;
  throw Error(Code::invalid, "ssml is '" + printable(text) + "': write true or false");
}

}  // namespace

std::string cell(const Cells& cells, std::string_view column) {
  const auto found = cells.find(column);
  return found == cells.end() ? std::string() : found->second;
}

void apply_cells(const Cells& cells, InferOptions& options) {
  CLI::App command;
  add_infer_options(command, options);
  std::vector<std::string> arguments;
  for (const auto& [column, value] : cells) {
    if (column != "ssml") arguments.push_back("--" + column + "=" + value);
  }
  if (cells.contains("ssml") && is_yes(cell(cells, "ssml"))) arguments.emplace_back("--ssml");
  try {
    command.parse(arguments);
  } catch (const CLI::ParseError& error) {
    throw Error(Code::invalid, error.what());
  }
}

}  // namespace navtalk::cmd
