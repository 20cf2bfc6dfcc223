// avatar show: what an avatar holds, and whether its files are whole.
#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "avatars/bundle/bundle_files.h"
#include "cmd/avatar/report.h"
#include "cmd/commands.h"
#include "cmd/defaults.h"
#include "cmd/render_module/render_module.h"

namespace navtalk::cmd {
namespace {

int show(const std::string& name, Context& context) {
  const std::filesystem::path directory = avatar_directory(name, context);
  const AvatarInfo info = read_bundle_files(directory).info;
  // Where the pictures are not plainly there, FFmpeg finds out what is the matter.
  if (!has_all_frames(directory, info)) render_module().open_avatar(directory);
  if (context.json) {
    context.out.json(avatar_json(info, directory));
  } else {
    print_avatar(context, info, directory);
  }
  return 0;
}

}  // namespace

void add_avatar_show(Commands& commands) {
  const auto name = std::make_shared<std::string>();
  CLI::App& command =
      commands.add({.group = Group::avatar,
                    .name = "show",
                    .summary = "Describe an avatar and check that its files are complete",
                    .examples = "  navtalk avatar show ada\n"
                                "  navtalk avatar show ./ada --json\n",
                    .action = [name](Context& context) { return show(*name, context); }});
  command.add_option("avatar", *name, "An avatar's folder or its id")
      ->required()
      ->type_name("DIR|ID");
}

}  // namespace navtalk::cmd
