#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <array>
#include <nlohmann/json.hpp>

#include "avatars/faces/given_faces.h"
#include "avatars/prepare/prepare.h"
#include "cmd/avatar/report.h"
#include "cmd/commands.h"
#include "cmd/defaults.h"
#include "cmd/frame_rate_option.h"
#include "core/base/error.h"
#include "core/text/number.h"

namespace navtalk::cmd {
namespace {

struct Options {
  std::filesystem::path video, image, images, output, face_boxes, models;
  std::string id, face_box, voice;
  FrameRate fps = 25;
  bool loop = false, no_latents = false, force = false;
};

ClipSource source_of(const Options& options) {
  const int given = !options.video.empty() + !options.image.empty() + !options.images.empty();
  if (given != 1)
    throw Error(Code::usage, "name exactly one source: --video FILE, --image FILE or --images DIR");
  if (!options.video.empty()) return options.video;
  if (!options.image.empty()) return std::vector{options.image};
  return list_pictures(options.images);
}

Box parse_face_box(const std::string& text) {
  std::array<int, 4> number{};
  std::string_view rest = text;
  bool good = true;
  for (std::size_t i = 0; i < number.size() && good; ++i) {
    number[i] = take_number<int>(rest).value_or(-1);
    good =
        number[i] >= 0 && number[i] < (1 << 20) && (i == 3 ? rest.empty() : rest.starts_with(','));
    if (good && i < 3) rest.remove_prefix(1);
  }
  if (!good || number[2] == 0 || number[3] == 0)
    throw Error(Code::usage,
                fmt::format("--face-box {}: must be X,Y,WIDTH,HEIGHT in pixels", text));
  return {number[0], number[1], number[0] + number[2], number[1] + number[3]};
}

std::shared_ptr<FaceSource> faces_of(const Options& options) {
  if (!options.face_box.empty() && !options.face_boxes.empty())
    throw Error(Code::usage, "--face-box and --face-boxes exclude each other");
  if (!options.face_box.empty())
    return std::make_shared<GivenFaces>(parse_face_box(options.face_box));
  if (!options.face_boxes.empty())
    return std::make_shared<GivenFaces>(read_face_boxes(options.face_boxes));
  return nullptr;
}

// Latents come from the model that is named or configured, else from the demo's where it is there.
std::optional<LatentOptions> latents_of(const Options& options, const Context& context) {
  if (options.no_latents) return std::nullopt;
  std::filesystem::path models;
  try {
    models = models_directory(options.models, context);
  } catch (const Error& error) {
    if (error.code() != Code::not_found) throw;
    return std::nullopt;  // no demo files: the avatar does without latents
  }
  return latents_of_model(models);
}

int prepare_avatar(const Options& options, Context& context) {
  const PrepareOptions work{.source = source_of(options),
                            .output = options.output,
                            .id = options.id,
                            .faces = faces_of(options),
                            .fps = options.fps,
                            .loop = options.loop,
                            .voice = options.voice,
                            .force = options.force,
                            .latents = latents_of(options, context)};
  const AvatarInfo info = prepare(work, context.progress, context.stop);
  if (context.json) {
    context.out.json(avatar_json(info, options.output));
  } else {
    print_avatar(context, info, options.output);
  }
  return 0;
}

}  // namespace

void add_avatar_prepare(Commands& commands) {
  const auto options = std::make_shared<Options>();
  CLI::App& command = commands.add(
      {.group = Group::avatar,
       .name = "prepare",
       .summary = "Make an avatar from a video or pictures",
       .examples =
           "  navtalk avatar prepare --video ada.mp4 --output avatars/ada\n"
           "  navtalk avatar prepare --image portrait.png --output avatars/still\n"
           "  navtalk avatar prepare --video ada.mp4 --face-box 164,99,316,316 --output ada\n"
           "An interrupted preparation goes on where it stopped when called again.\n",
       .action = [options](Context& context) { return prepare_avatar(*options, context); },
       .loads_nets = true});
  command.add_option("--video", options->video, "Video of one person who looks at the camera")
      ->type_name("FILE");
  command.add_option("--image", options->image, "A picture; the avatar has one frame")
      ->type_name("FILE");
  command
      .add_option("--images", options->images,
                  "Folder of pictures, one per frame, in the order of their names")
      ->type_name("DIR");
  command.add_option("--output", options->output, "The avatar's folder")
      ->required()
      ->type_name("DIR");
  command.add_option("--id", options->id, "The avatar's id; default: the output folder's name")
      ->type_name("ID");
  command
      .add_option("--face-box", options->face_box,
                  "Where the face is in every frame, from the brow to just below the chin, instead "
                  "of finding it")
      ->type_name("X,Y,W,H");
  command
      .add_option("--face-boxes", options->face_boxes,
                  "The same frame by frame: {\"boxes\": [[x1,y1,x2,y2] or null, ...]}")
      ->type_name("FILE");
  add_frame_rate(command, options->fps, k_highest_avatar_fps, "Frames per second of the avatar");
  command.add_flag("--loop", options->loop,
                   "Play the clip from its start again, not forwards and backwards");
  command
      .add_option("--voice", options->voice, "espeak-ng's voice for text that this avatar speaks")
      ->type_name("NAME");
  command.add_option("--models", options->models, "MuseTalk's checkpoint folder, for the latents")
      ->type_name("DIR");
  command.add_flag("--no-latents", options->no_latents,
                   "Compute no latents: they are computed at the first use of the avatar");
  command.add_flag("--force", options->force, "Replace an existing avatar");
}

}  // namespace navtalk::cmd
