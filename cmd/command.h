// How commands register themselves on the command line. A group (avatar, bench, model) appears with
// its first command.
#pragma once

#include <memory>
#include <string>

#include "cmd/context.h"

namespace CLI {
class App;
}

namespace navtalk::cmd {

enum class Group { none, avatar, bench, config, job, key, model, pool, tenant };

struct Command {
  Group group = Group::none;
  std::string name{};
  std::string summary{};   // one line, no full stop
  std::string examples{};  // lines of the --help footer, each indented by two spaces
  Action action{};
  bool needs_config = true;  // false: runs even when the configuration is broken
};

class Commands {
 public:
  explicit Commands(CLI::App& root) : root_(root) {}
  // The new subcommand, for its options; it lives as long as the root.
  CLI::App& add(Command command);
  // The command that the parsed line names; nullptr before parsing or when it names none.
  const Command* chosen() const { return chosen_.get(); }
  // Every command and option, for the completions.
  const CLI::App& root() const { return root_; }

 private:
  CLI::App& parent(Group group);

  CLI::App& root_;
  std::shared_ptr<const Command> chosen_;
};

}  // namespace navtalk::cmd
