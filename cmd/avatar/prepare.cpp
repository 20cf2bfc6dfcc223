#include "cmd/avatar/prepare.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <tuple>

#include "avatars/bundle/avatar_info.h"
#include "cmd/commands.h"
#include "cmd/frame_rate_option.h"
#include "cmd/render_module/render_module.h"

namespace navtalk::cmd {

void add_avatar_prepare(Commands& commands) {
  const auto options = std::make_shared<AvatarPrepareOptions>();
  CLI::App& command = commands.add(
      {.group = Group::avatar,
       .name = "prepare",
       .summary = "Make an avatar from a video or pictures",
       .examples =
           "  navtalk avatar prepare --video ada.mp4 --output avatars/ada\n"
           "  navtalk avatar prepare --image portrait.png --output avatars/still\n"
           "  navtalk avatar prepare --video ada.mp4 --face-box 164,99,316,316 --output ada\n"
           "  navtalk avatar prepare --video talks.mp4 --idle waits.mp4 --action wave=waves.mp4 -o "
           "ada\n"
           "After an interruption the same command continues where it stopped.\n",
       .action = [options](Context& context) {
         return render_module().prepare_avatar(*options, context);
       }});
  command.add_option("--video", options->video, "Video of one person who looks at the camera")
      ->type_name("FILE");
  command.add_option("--image", options->image, "A picture")->type_name("FILE");
  command
      .add_option("--images", options->images,
                  "Folder of pictures, one per frame, in the order of their names")
      ->type_name("DIR");
  command.add_flag("--still-motion", options->still_motion,
                   "Make --image a clip of 12 s in which the head sways and the eyes blink");
  command.add_flag("--no-blinks", options->no_blinks, "With --still-motion: the head sways only");
  command
      .add_option("--idle", options->idle,
                  "Video of the same size that live sessions show in silence; default: the "
                  "source, which is for speech")
      ->type_name("FILE");
  command
      .add_option("--listening", options->listening, "The same for silence while the user speaks")
      ->type_name("FILE");
  command
      .add_option("--action", options->actions,
                  "Video of an action, such as wave, that live sessions play when asked to; "
                  "repeatable")
      ->type_name("NAME=FILE");
  command.add_option("-o,--output", options->output, "The avatar's folder")
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
  command
      .add_option("--bbox-shift", options->bbox_shift,
                  "How many pixels lower the landmarks put the bridge of the nose, on which "
                  "the box is centred; default: 0")
      ->type_name("N")
      ->check(CLI::Range(-1000, 1000));
  command
      .add_option("--extra-margin", options->extra_margin,
                  "How many pixels below the chin of the landmarks the box ends; default: 10")
      ->type_name("N")
      ->check(CLI::Range(0, 1000));
  command
      .add_option(
          "--parsing-mode", options->parsing_mode,
          "What of the face is replaced, by MuseTalk's face parsing: jaw, raw or neck; without it: "
          "skin, by its colours, or none, an ellipse. Default: jaw where the model has a face "
          "parsing, otherwise skin")
      ->type_name("MODE")
      ->check(CLI::IsMember({"jaw", "raw", "neck", "skin", "none"}));
  for (const auto& [name, width, side] :
       {std::tuple("--left-cheek-width", &options->left_cheek_width, "left"),
        std::tuple("--right-cheek-width", &options->right_cheek_width, "right")})
    command
        .add_option(
            name, *width,
            fmt::format("With --parsing-mode jaw: how far {} of the centre the whole skin is "
                        "replaced, in 512ths of the crop; the cheek beyond stays; default: 90",
                        side))
        ->type_name("N")
        ->check(CLI::Range(0, 256));
  command
      .add_option("--face", options->face,
                  "Which face is followed: 1 is the one that has the largest area in all frames "
                  "together; default: 1, with a warning where others stay beside it")
      ->type_name("N")
      ->check(CLI::Range(1, 100));
  command.add_flag("--no-smoothing", options->no_smoothing,
                   "Leave the boxes of the built-in finder as they are in single frames; those of "
                   "MuseTalk's networks are never smoothed");
  add_frame_rate(command, options->fps, k_highest_avatar_fps, "Frames per second of the avatar");
  command.add_flag("--lossless", options->lossless,
                   "Keep the pictures as they are, in RGB: several times larger, and no browser "
                   "shows them as a preview");
  command.add_flag("--loop", options->loop,
                   "Play the clip from its start again, not forwards and backwards");
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
  command
      .add_option("--preview", options->preview,
                  "PNG or JPEG to write: a contact sheet of frames with boxes, what is replaced, "
                  "and its seam")
      ->type_name("FILE");
  command
      .add_option("--models", options->models,
                  "MuseTalk's checkpoint folder, for faces, masks and latents")
      ->type_name("DIR");
  command
      .add_option("--device", options->device,
                  "Where MuseTalk's face networks compute: cpu, cuda, cuda:N; auto: a GPU if there "
                  "is one")
      ->type_name("DEVICE")
      ->capture_default_str();
  command
      .add_option("--face-precision", options->face_precision,
                  "Number format of MuseTalk's face networks: fp32 gives MuseTalk's boxes and "
                  "masks; bf16 (CPU) and fp16 (GPU) are faster, and boxes may differ by pixels")
      ->check(CLI::IsMember({"fp32", "bf16", "fp16"}))
      ->type_name("PRECISION")
      ->capture_default_str();
  command
      .add_option("--face-batch", options->face_batch,
                  "Frames that go through those networks together; 0: 1 on a CPU, 8 on a GPU")
      ->check(CLI::Range(0, 64))
      ->type_name("N")
      ->capture_default_str();
  command.add_flag("--no-latents", options->no_latents,
                   "Compute no latents: they are computed at the first use of the avatar");
  command.add_flag("--force", options->force, "Replace an existing avatar");
}

}  // namespace navtalk::cmd
