// The completion script for bash, from the tree of commands.
#include <fmt/core.h>
#include <fmt/ranges.h>

#include "cmd/completions/tree.h"

namespace navtalk::cmd {
namespace {

using Kind = CompletionArgument::Kind;

std::string reply(const CompletionArgument& argument) {
  switch (argument.kind) {
    case Kind::word:
      return fmt::format("_navtalk_words '{}'", fmt::join(argument.words, " "));
    case Kind::file:
      return "_navtalk_paths -f";
    case Kind::directory:
      return "_navtalk_paths -d";
    case Kind::avatar:
      return "_navtalk_avatars";
    case Kind::voice:
      return "_navtalk_words \"$(_navtalk_first voices)\"";
    case Kind::none:
    case Kind::value:
      break;
  }
  return ":";
}

// '"navtalk infer --models"', or with any command for an option of the root.
std::string pattern(const CompletionNode& node, const std::string& option, bool root) {
  return root ? fmt::format("*\" {}\"", option) : fmt::format("\"{} {}\"", node.path, option);
}

std::string patterns(const CompletionNode& node, const CompletionArgument& option, bool root) {
  std::string text;
  for (const std::string& name : option.names) {
    text += (text.empty() ? "" : " | ") + pattern(node, name, root);
  }
  return text;
}

std::string names(const std::vector<CompletionArgument>& options) {
  std::string text;
  for (const CompletionArgument& option : options) {
    for (const std::string& name : option.names) text += " " + name;
  }
  return text;
}

constexpr const char* k_head =
    R"bash(# bash completion for navtalk, made by `navtalk completions bash`: do not edit.

_navtalk_words() {
  mapfile -t COMPREPLY < <(compgen -W "$1" -- "$current")
}

_navtalk_paths() {
  compopt -o filenames 2> /dev/null
  mapfile -t COMPREPLY < <(compgen "$1" -- "$current")
}

# The first column of a list, without its heading
_navtalk_first() {
  "${COMP_WORDS[0]}" "$@" 2> /dev/null | sed '1d; s/ .*//'
}

_navtalk_avatars() {
  if [[ $current == */* ]]; then
    _navtalk_paths -d
  else
    _navtalk_words "$(_navtalk_first avatar list)"
  fi
}

_navtalk() {
  local current=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD - 1]} command=navtalk i
  COMPREPLY=()
  # --option=value comes as three words
  if [[ $current == = ]]; then
    current=
  elif [[ $option == = ]]; then
    option=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$command ${COMP_WORDS[i]}" in
)bash";

}  // namespace

std::string bash_completions(const CompletionNode& root) {
  std::string text = k_head, commands, values, words;
  for (const CompletionNode* node : all_nodes(root)) {
    const bool is_root = node == &root;
    for (const CompletionArgument& option : node->options) {
      if (!option.takes_value()) continue;
      const std::string any = patterns(*node, option, is_root);
      text += fmt::format(
          "      {})\n        [[ ${{COMP_WORDS[i + 1]}} == = ]] && ((i++))\n        ((i++))\n      "
          "  ;;\n",
          any);
      values += fmt::format("    {})\n      {}\n      return\n      ;;\n", any, reply(option));
    }
    if (!is_root) commands += fmt::format("{}\"{}\"", commands.empty() ? "" : " | ", node->path);
    const std::string options = names(node->options) + (is_root ? "" : names(root.options));
    std::string others = ":";
    if (!node->commands.empty()) {
      others = "_navtalk_words '";
      for (const CompletionNode& command : node->commands) others += command.name + " ";
      others.back() = '\'';
    } else if (!node->positionals.empty()) {
      others = reply(node->positionals.front());
    }
    words += fmt::format(
        "    \"{}\")\n      if [[ $current == -* ]]; then\n        _navtalk_words '{}'\n      "
        "else\n        {}\n      fi\n      ;;\n",
        node->path, options.substr(1), others);
  }
  text +=
      fmt::format("      {}) command+=\" ${{COMP_WORDS[i]}}\" ;;\n    esac\n  done\n", commands);
  text += "  case \"$command $option\" in\n" + values + "  esac\n";
  text += "  case $command in\n" + words + "  esac\n}\n\ncomplete -F _navtalk navtalk\n";
  return text;
}

}  // namespace navtalk::cmd
