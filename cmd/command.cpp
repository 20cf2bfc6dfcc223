#include "cmd/command.h"

#include <CLI/CLI.hpp>

namespace navtalk::cmd {
namespace {

constexpr const char* k_footer = "For --json, --config and more see 'navtalk --help'.";

}  // namespace

CLI::App& Commands::parent(Group group) {
  const auto named = [this](const std::string& name, const std::string& summary) -> CLI::App& {
    for (CLI::App* existing : root_.get_subcommands([](CLI::App*) { return true; })) {
      if (existing->get_name() == name) return *existing;
    }
    CLI::App* made = root_.add_subcommand(name, summary);
    // Exactly one, so that a value that happens to be a command's name stays a value.
    made->require_subcommand(1);
    made->footer(k_footer);
    return *made;
  };
  switch (group) {
    case Group::none:
      break;
    case Group::avatar:
      return named("avatar", "Prepare and show avatars");
    case Group::bench:
      return named("bench", "Measure how fast this machine is");
    case Group::config:
      return named("config", "Check and show the configuration");
    case Group::job:
      return named("job", "Render many videos, and show them");
    case Group::key:
      return named("key", "Make, show and revoke API keys");
    case Group::model:
      return named("model", "Check model files and verify their results");
    case Group::pool:
      return named("pool", "Show and control the pool of GPUs");
    case Group::tenant:
      return named("tenant", "Show and set limits and shares of tenants");
  }
  return root_;
}

CLI::App& Commands::add(Command command) {
  CLI::App* app = parent(command.group).add_subcommand(command.name, command.summary);
  app->footer((command.examples.empty() ? "" : "Examples:\n" + command.examples + "\n") + k_footer);
  app->callback(
      [this, shared = std::make_shared<const Command>(std::move(command))] { chosen_ = shared; });
  return *app;
}

}  // namespace navtalk::cmd
