// avatar show: what an avatar holds, and whether its files are whole.
#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "avatars/bundle/bundle_files.h"
#include "cmd/avatar/report.h"
#include "cmd/commands.h"
#include "cmd/defaults.h"
#include "cmd/render_module/media_limits.h"
#include "cmd/render_module/render_module.h"

namespace navtalk::cmd {
namespace {

struct Options {
  std::string name;
  std::filesystem::path preview;
  bool force = false;
};

int show(const Options& options, Context& context) {
  const std::filesystem::path directory = avatar_directory(options.name, context);
  const AvatarInfo info = read_bundle_files(directory).info;
  // Where the pictures are not plainly there, FFmpeg finds out what is the matter.
  if (!has_all_frames(directory, info))
    render_module().open_avatar(directory, media_limits(context));
  if (!options.preview.empty())
    render_module().preview_avatar(directory, options.preview, options.force,
                                   media_limits(context));
  if (context.json) {
    context.out.json(avatar_json(info, directory));
  } else {
    print_avatar(context, info, directory);
  }
  return 0;
}

}  // namespace

void add_avatar_show(Commands& commands) {
  const auto options = std::make_shared<Options>();
  CLI::App& command =
      commands.add({.group = Group::avatar,
                    .name = "show",
                    .summary = "Describe an avatar and check that its files are complete",
                    .examples = "  navtalk avatar show ada\n"
                                "  navtalk avatar show ./ada --json\n"
                                "  navtalk avatar show ./ada --preview ada.png\n",
                    .action = [options](Context& context) { return show(*options, context); }});
  command.add_option("avatar", options->name, "An avatar's id, or its folder, with a slash")
      ->required()
      ->type_name("DIR|ID");
  command
      .add_option(
          "--preview", options->preview,
          "PNG or JPEG to write: a frame with the face's box, what is replaced, and its seam")
      ->type_name("FILE");
  command.add_flag("--force", options->force, "Replace an existing file");
}

}  // namespace navtalk::cmd
