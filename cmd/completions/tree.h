// The command line as the completion generators see it: read off the real parser, so that shells
// never offer what is not there.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace navtalk::cmd {

struct CompletionArgument {
  // none: a flag; word: one of `words`; avatar: an id, or a folder where the label says so; voice: what
  // `navtalk voices` lists
  enum class Kind { none, value, word, file, directory, avatar, voice };
  std::vector<std::string> names;  // "--json", "-h"; empty for a positional argument
  std::string label;               // "FILE"
  std::string meaning;
  Kind kind = Kind::none;
  std::vector<std::string> words;
  bool takes_value() const { return kind != Kind::none; }
};

struct CompletionNode {
  std::string name;  // "check"
  std::string path;  // "navtalk model check"
  std::string meaning;
  std::vector<CompletionArgument> options, positionals;
  std::vector<CompletionNode> commands;
};

// Options of the root stand in the root alone; they are understood behind every command.
CompletionNode completion_tree(const CLI::App& root);

// The node and all below it, parents first.
std::vector<const CompletionNode*> all_nodes(const CompletionNode& root);

std::string bash_completions(const CompletionNode& root);
std::string zsh_completions(const CompletionNode& root);
std::string fish_completions(const CompletionNode& root);

}  // namespace navtalk::cmd
