// The completion script for zsh, from the tree of commands.
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "cmd/completions/tree.h"

namespace navtalk::cmd {
namespace {

using Kind = CompletionArgument::Kind;

// Text inside '...' of an _arguments specification.
std::string zsh_quoted(const std::string& text) {
  std::string safe;
  for (const char byte : text) {
    if (byte == '[' || byte == ']' || byte == ':' || byte == '\\') safe += '\\';
    safe += byte == '\'' ? std::string("'\\''") : std::string(1, byte);
  }
  return safe;
}

std::string action(const CompletionArgument& argument) {
  switch (argument.kind) {
    case Kind::word:
      return fmt::format("({})", fmt::join(argument.words, " "));
    case Kind::file:
      return "_files";
    case Kind::directory:
      return "_files -/";
    case Kind::avatar:
      return "_navtalk_avatars";
    case Kind::voice:
      return "_navtalk_voices";
    case Kind::none:
    case Kind::value:
      break;
  }
  return " ";
}

std::string option_specs(const std::vector<CompletionArgument>& options) {
  std::string text;
  for (const CompletionArgument& option : options) {
    for (const std::string& name : option.names) {
      text += fmt::format(
          "    '{}{}[{}]{}' \\\n", name, option.takes_value() && name.starts_with("--") ? "=" : "",
          zsh_quoted(option.meaning),
          option.takes_value() ? fmt::format(":{}:{}", zsh_quoted(option.label), action(option))
                               : "");
    }
  }
  return text;
}

std::string function_name(const CompletionNode& node) {
  std::string name = "_" + node.path;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == ' ' || c == '-'; }, '_');
  return name;
}

std::string choose_command(const CompletionNode& node) {
  std::string text =
      "    '1: :->command' \\\n    '*:: :->rest'\n  case $state in\n    command)\n      "
      "commands=(\n";
  for (const CompletionNode& command : node.commands) {
    text += fmt::format("        '{}:{}'\n", command.name, zsh_quoted(command.meaning));
  }
  text +=
      "      )\n      _describe command commands\n      ;;\n    rest)\n      case $line[1] in\n";
  for (const CompletionNode& command : node.commands) {
    text += fmt::format("        {}) {} ;;\n", command.name, function_name(command));
  }
  return text + "      esac\n      ;;\n  esac\n";
}

std::string positional_specs(const CompletionNode& node) {
  std::string text;
  for (std::size_t i = 0; i < node.positionals.size(); ++i) {
    const CompletionArgument& argument = node.positionals[i];
    text += fmt::format("    '{}:{}:{}' \\\n", i + 1, zsh_quoted(argument.label), action(argument));
  }
  return text + "    && return\n";
}

// The first columns of lists, without their headings.
constexpr const char* k_lists = R"zsh(
_navtalk_avatars() {
  if [[ $PREFIX == */* ]]; then
    _files -/
  else
    compadd -- ${(f)"$(navtalk avatar list 2> /dev/null | sed '1d; s/ .*//')"}
  fi
}

_navtalk_voices() {
  compadd -- ${(f)"$(navtalk voices 2> /dev/null | sed '1d; s/ .*//')"}
}
)zsh";

}  // namespace

std::string zsh_completions(const CompletionNode& root) {
  std::string text =
      "#compdef navtalk\n# zsh completion for navtalk, made by `navtalk completions zsh`: do not "
      "edit.\n";
  text += k_lists;
  const std::string globals = option_specs(root.options);
  for (const CompletionNode* node : all_nodes(root)) {
    const bool is_root = node == &root;
    text += fmt::format("\n{}() {{\n", function_name(*node));
    text += "  local curcontext=$curcontext state line\n  local -a commands\n";
    text += "  _arguments -C \\\n" + (is_root ? "" : option_specs(node->options)) + globals;
    text += (node->commands.empty() ? positional_specs(*node) : choose_command(*node)) + "}\n";
  }
  return text +
         "\nif [[ $funcstack[1] == _navtalk ]]; then\n  _navtalk \"$@\"\nelse\n"
         "  compdef _navtalk navtalk\nfi\n";
}

}  // namespace navtalk::cmd
