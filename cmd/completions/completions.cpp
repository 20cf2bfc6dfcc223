// completions: prints the script for one shell.
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cmd/commands.h"
#include "cmd/completions/tree.h"

namespace navtalk::cmd {

void add_completions(Commands& commands) {
  const auto shell = std::make_shared<std::string>();
  const auto print = [shell, &commands](Context& context) {
    const CompletionNode root = completion_tree(commands.root());
    const std::string script = *shell == "bash"  ? bash_completions(root)
                               : *shell == "zsh" ? zsh_completions(root)
                                                 : fish_completions(root);
    if (context.json) {
      context.out.json({{"shell", *shell}, {"script", script}});
    } else {
      context.out.write(script);
    }
    return 0;
  };
  CLI::App& command = commands.add({
      .name = "completions",
      .summary = "Print a script that completes navtalk's commands in a shell",
      .examples = "  source <(navtalk completions bash)   in ~/.bashrc\n"
                  "  source <(navtalk completions zsh)    in ~/.zshrc, after compinit\n"
                  "  navtalk completions fish | source    in ~/.config/fish/config.fish\n",
      .action = print,
      .needs_config = false,
  });
  command.add_option("shell", *shell, "The shell")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}))
      ->type_name("SHELL");
}

}  // namespace navtalk::cmd
