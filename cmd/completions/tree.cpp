#include "cmd/completions/tree.h"

#include <CLI/CLI.hpp>

namespace navtalk::cmd {
namespace {

using Kind = CompletionArgument::Kind;

// "LEVEL:{trace,debug}" gives trace, debug: the parser keeps enumerated values only in this text.
std::vector<std::string> words_of(const std::string& type) {
  const std::size_t open = type.find('{'), close = type.find('}');
  if (open == std::string::npos || close == std::string::npos) return {};
  return CLI::detail::split(type.substr(open + 1, close - open - 1), ',');
}

Kind kind_of(const CLI::Option& option, const std::string& type) {
  if (option.get_items_expected_max() == 0) return Kind::none;
  if (type.find('{') != std::string::npos) return Kind::word;
  if (type.starts_with("FILE")) return Kind::file;
  if (type == "DIR|ID" || type == "AVATAR") return Kind::avatar;
  if (type == "VOICE") return Kind::voice;
  if (type.starts_with("DIR")) return Kind::directory;
  return Kind::value;
}

CompletionArgument argument(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  CompletionArgument made{.names = {},
                          .label = type.substr(0, type.find(':')),
                          .meaning = option.get_description(),
                          .kind = kind_of(option, type),
                          .words = words_of(type)};
  for (const std::string& name : option.get_lnames()) made.names.push_back("--" + name);
  for (const std::string& name : option.get_snames()) made.names.push_back("-" + name);
  return made;
}

CompletionNode node(const CLI::App& app, const std::string& parent) {
  CompletionNode made{.name = app.get_name(),
                      .path = parent + app.get_name(),
                      .meaning = app.get_description(),
                      .options = {},
                      .positionals = {},
                      .commands = {}};
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;  // an earlier name, kept for scripts
    // Every command has the root's --help.
    if (option == app.get_help_ptr() && !parent.empty()) continue;
    (option->get_positional() ? made.positionals : made.options).push_back(argument(*option));
  }
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    made.commands.push_back(node(*command, made.path + " "));
  }
  return made;
}

}  // namespace

CompletionNode completion_tree(const CLI::App& root) { return node(root, ""); }

std::vector<const CompletionNode*> all_nodes(const CompletionNode& root) {
  std::vector<const CompletionNode*> nodes = {&root};
  for (const CompletionNode& command : root.commands) {
    for (const CompletionNode* below : all_nodes(command)) nodes.push_back(below);
  }
  return nodes;
}

}  // namespace navtalk::cmd
