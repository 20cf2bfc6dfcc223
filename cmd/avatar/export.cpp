// avatar export: an avatar for MuseTalk's Python.
#include <CLI/CLI.hpp>
#include <memory>

#include "cmd/avatar/exchange.h"
#include "cmd/commands.h"
#include "cmd/render_module/render_module.h"

namespace navtalk::cmd {

void add_avatar_export(Commands& commands) {
  const auto options = std::make_shared<AvatarExportOptions>();
  CLI::App& command =
      commands.add({.group = Group::avatar,
                    .name = "export",
                    .summary = "Write an avatar as MuseTalk's Python keeps it",
                    .examples = "  navtalk avatar export anna results/v15/avatars/anna\n",
                    .action = [options](Context& context) {
                      return render_module().export_avatar(*options, context);
                    }});
  command.add_option("avatar", options->avatar, "An avatar's id, or its folder, with a slash")
      ->required()
      ->type_name("DIR|ID");
  command.add_option("folder", options->folder, "The folder to write")
      ->required()
      ->type_name("DIR");
  command
      .add_option("--models", options->models,
                  "MuseTalk's checkpoint folder, for the latents of an avatar that has none")
      ->type_name("DIR");
  command.add_flag("--force", options->force, "Replace an existing export");
}

}  // namespace navtalk::cmd
