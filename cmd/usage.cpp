#include "cmd/usage.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "core/text/printable.h"
#include "core/text/suggest.h"

namespace navtalk::cmd {
namespace {

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* at = &app; at != nullptr; at = at->get_parent()) {
    for (const CLI::Option* option : at->get_options()) {
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
  }
  return names;
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  return names;
}

std::string in_quotes(std::string_view word) { return "'" + printable(word) + "'"; }

std::string unknown_word(const CLI::App& app, const std::string& word) {
  if (word.size() > 1 && word[0] == '-') {
    const std::string option = word.substr(0, word.find('='));
    return "unknown option " + in_quotes(option) + did_you_mean(option, option_names(app));
  }
  const std::vector<std::string> commands = command_names(app);
  if (commands.empty()) return "unexpected argument " + in_quotes(word);
  return "unknown command " + in_quotes(word) + did_you_mean(word, commands);
}

std::string what_is_wrong(const CLI::App& root, const CLI::App& app,
                          const CLI::ParseError& complaint) {
  std::vector<std::string> unknown = root.remaining(true);
  std::erase(unknown, "--");
  // An unknown option's value is left over too: the option is what to speak of.
  const auto option = std::find_if(unknown.begin(), unknown.end(),
                                   [](const std::string& word) { return word.starts_with('-'); });
  if (option != unknown.end()) return unknown_word(app, *option);
  if (!unknown.empty()) return unknown_word(app, unknown.front());
  const bool incomplete = dynamic_cast<const CLI::RequiredError*>(&complaint) != nullptr;
  if (incomplete && !command_names(app).empty()) return "a command is missing";
  return printable(complaint.what());
}

}  // namespace

const CLI::App& deepest(const CLI::App& root) {
  const CLI::App* app = &root;
  while (!app->get_subcommands().empty()) app = app->get_subcommands().back();
  return *app;
}

std::string full_name(const CLI::App& app) {
  if (app.get_parent() == nullptr) return app.get_name();
  return full_name(*app.get_parent()) + " " + app.get_name();
}

Error usage_error(const CLI::App& root, const CLI::ParseError& complaint) {
  const CLI::App& app = deepest(root);
  return Error(Code::usage,
               what_is_wrong(root, app, complaint) + "; see '" + full_name(app) + " --help'");
}

}  // namespace navtalk::cmd
