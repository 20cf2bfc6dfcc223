#include "cmd/help.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>

namespace navtalk::cmd {
namespace {

std::string leaves(const CLI::App& app, const std::string& prefix) {
  std::string text;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    const std::string name = prefix + command->get_name();
    const std::string below = leaves(*command, name + " ");
    text += below.empty() ? fmt::format("  {:<18}  {}\n", name, command->get_description()) : below;
  }
  return text;
}

class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_subcommands(const CLI::App* app, CLI::AppFormatMode) const override {
    const std::string text = leaves(*app, "");
    return text.empty() ? "" : "\nCommands:\n" + text;
  }
};

}  // namespace

std::shared_ptr<CLI::FormatterBase> help_formatter() {
  const auto formatter = std::make_shared<HelpFormatter>();
  formatter->label("REQUIRED", "(required)");
  formatter->column_width(28);
  return formatter;
}

}  // namespace navtalk::cmd
