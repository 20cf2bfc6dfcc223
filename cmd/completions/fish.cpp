// The completion script for fish, from the tree of commands.
#include <fmt/core.h>
#include <fmt/ranges.h>

#include "cmd/completions/tree.h"

namespace navtalk::cmd {
namespace {

using Kind = CompletionArgument::Kind;

// Text inside '...' of fish.
std::string fish_quoted(const std::string& text) {
  std::string safe;
  for (const char byte : text) {
    if (byte == '\'' || byte == '\\') safe += '\\';
    safe += byte;
  }
  return safe;
}

std::string value_flags(const CompletionArgument& argument) {
  switch (argument.kind) {
    case Kind::none:
      return "";
    case Kind::value:
      return " -x";
    case Kind::word:
      return fmt::format(" -x -a '{}'", fmt::join(argument.words, " "));
    case Kind::file:
      return " -r -F";
    case Kind::directory:
      return " -x -a '(__fish_complete_directories)'";
    case Kind::avatar:
      return " -x -a '(__navtalk_first avatar list; __fish_complete_directories)'";
    case Kind::voice:
      return " -x -a '(__navtalk_first voices)'";
  }
  return "";
}

std::string option_line(const CompletionArgument& option, const std::string& condition) {
  std::string names;
  for (const std::string& name : option.names) {
    names += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  }
  return fmt::format("complete -c navtalk{}{}{} -d '{}'\n", condition, names, value_flags(option),
                     fish_quoted(option.meaning));
}

std::string positional_line(const CompletionArgument& argument, const std::string& condition) {
  const std::string flags = argument.kind == Kind::file ? " -F" : value_flags(argument);
  return fmt::format("complete -c navtalk{}{}\n", condition, flags);
}

// $path is what stands behind "navtalk": options, their values and arguments left out.
std::string at_function(const CompletionNode& root) {
  std::string commands, with_value;
  for (const CompletionNode* node : all_nodes(root)) {
    if (node != &root) commands += fmt::format(" '{}'", node->path.substr(root.path.size() + 1));
    for (const CompletionArgument& option : node->options) {
      for (const std::string& name : option.names) {
        if (option.takes_value()) with_value += " " + name;
      }
    }
  }
  return fmt::format(R"(function __navtalk_at
    set -l commands{}
    set -l with_value{}
    set -l path ''
    set -l skip 0
    for word in (commandline -opc)[2..-1]
        if test $skip = 1
            set skip 0
        else if contains -- $word $with_value
            set skip 1
        else if contains -- (string trim -- "$path $word") $commands
            set path (string trim -- "$path $word")
        end
    end
    test "$path" = "$argv"
end

# The first column of a list, without its heading
function __navtalk_first
    navtalk $argv 2> /dev/null | sed '1d; s/ .*//'
end
)",
                     commands, with_value);
}

}  // namespace

std::string fish_completions(const CompletionNode& root) {
  std::string text =
      "# fish completion for navtalk, made by `navtalk completions fish`: do not edit.\n\n" +
      at_function(root) + "\ncomplete -c navtalk -f\n";
  for (const CompletionArgument& option : root.options) text += option_line(option, "");
  for (const CompletionNode* node : all_nodes(root)) {
    const bool is_root = node == &root;
    const std::string where = is_root ? "" : node->path.substr(root.path.size() + 1);
    const std::string condition = fmt::format(" -n '__navtalk_at {}'", where);
    if (!is_root) {
      for (const CompletionArgument& option : node->options) text += option_line(option, condition);
    }
    for (const CompletionNode& command : node->commands) {
      text += fmt::format("complete -c navtalk{} -a {} -d '{}'\n", condition, command.name,
                          fish_quoted(command.meaning));
    }
    if (!node->positionals.empty()) text += positional_line(node->positionals.front(), condition);
  }
  return text;
}

}  // namespace navtalk::cmd
