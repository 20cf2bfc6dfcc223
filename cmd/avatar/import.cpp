// avatar import: an avatar of MuseTalk's Python or of LiveTalking.
#include <CLI/CLI.hpp>
#include <memory>

#include "cmd/avatar/exchange.h"
#include "cmd/commands.h"
#include "cmd/frame_rate_option.h"
#include "cmd/render_module/render_module.h"

namespace navtalk::cmd {

void add_avatar_import(Commands& commands) {
  const auto options = std::make_shared<AvatarImportOptions>();
  CLI::App& command = commands.add(
      {.group = Group::avatar,
       .name = "import",
       .summary = "Make an avatar from one that MuseTalk's Python or LiveTalking prepared",
       .examples = "  navtalk avatar import results/v15/avatars/anna avatars/anna\n"
                   "  navtalk avatar import data/avatars/anna avatars/anna --id anna\n",
       .action = [options](Context& context) {
         return render_module().import_avatar(*options, context);
       }});
  command
      .add_option("folder", options->folder,
                  "Folder with full_imgs, mask, coords.pkl, mask_coords.pkl and latents.pt")
      ->required()
      ->type_name("DIR");
  command.add_option("output", options->output, "The avatar's folder")
      ->required()
      ->type_name("DIR");
  command
      .add_option("--id", options->id,
                  "The avatar's id; default: the one in the folder, otherwise the output's name")
      ->type_name("ID");
  add_optional_frame_rate(command, options->fps, "Frames per second of the avatar; default: 25");
  command.add_flag("--loop", options->loop,
                   "Play frames that are stored once from their start again, not forwards and "
                   "backwards");
  command
      .add_option("--voice", options->voice, "espeak-ng's voice for text that this avatar speaks")
      ->type_name("VOICE");
  command
      .add_option("--sharpen", options->sharpen,
                  "Unsharp mask on generated faces, such as 1.2, in videos and live sessions")
      ->check(CLI::Range(0.0, 10.0))
      ->type_name("AMOUNT");
  command.add_flag("--match-colour", options->match_colour,
                   "Give generated faces the brightness and contrast of the frame around their "
                   "seam, in videos and live sessions");
  command.add_flag("--force", options->force, "Replace an existing avatar");
}

}  // namespace navtalk::cmd
