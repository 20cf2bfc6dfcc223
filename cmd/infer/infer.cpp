// navtalk infer: speech and an avatar to a video, offline.
#include "cmd/infer/infer.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "cmd/commands.h"
#include "cmd/defaults.h"
#include "cmd/frame_rate_option.h"
#include "cmd/render_module/render_module.h"
#include "core/base/error.h"
#include "core/files/whole_file.h"

namespace navtalk::cmd {
namespace {

void add_what(CLI::App& command, InferOptions& options) {
  command
      .add_option("--avatar", options.avatar,
                  "Avatar: its folder, or its id; the demo has ada, theo")
      ->capture_default_str()
      ->type_name("DIR|ID");
  command.add_option("--audio", options.audio, "Speech: any audio file")->type_name("FILE");
  command.add_option("--text", options.text, "Speech: a text that espeak-ng speaks")
      ->type_name("TEXT");
  command
      .add_option("--voice", options.voice, "espeak-ng's voice for --text (default: the avatar's)")
      ->type_name("NAME");
  command
      .add_option("--output", options.output,
                  "Video to write (MP4; default: named after the avatar's id)")
      ->type_name("FILE");
  command.add_option("--frames", options.frames, "Folder for every frame as PNG")->type_name("DIR");
  command.add_flag("--force", options.force, "Replace existing files");
}

void add_how(CLI::App& command, InferOptions& options) {
  command
      .add_option("--models", options.models,
                  "MuseTalk's checkpoint folder (default: the demo model)")
      ->type_name("DIR");
  command.add_option("--device", options.device, "cpu, cuda or cuda:N")
      ->capture_default_str()
      ->type_name("DEVICE");
  command
      .add_option("--precision", options.precision,
                  "Number format of the nets; auto chooses the fastest for each net")
      ->check(CLI::IsMember({"auto", "fp32", "bf16", "fp16"}))
      ->capture_default_str()
      ->type_name("PRECISION");
  command.add_option("--threads", options.threads, "Threads for the nets (0: every core)")
      ->check(CLI::Range(0, 1024))
      ->type_name("N");
  command
      .add_option("--batch", options.batch, "Frames in one pass through the nets (0: automatic)")
      ->check(CLI::Range(0, 64))
      ->type_name("N");
  add_frame_rate(command, options.fps, 120, "Frames per second; the model was trained at 25");
  command.add_option("--sharpen", options.sharpen, "Unsharp mask on the face, such as 1.2")
      ->check(CLI::Range(0.0, 10.0))
      ->type_name("AMOUNT");
}

// What can be seen without the module, whose loading takes longer than most commands.
void check(const InferOptions& options, const Context& context) {
  if (options.audio.empty() && options.text.empty())
    throw Error(Code::usage, "give the speech: --audio FILE, or --text TEXT that is not empty");
  if (!options.audio.empty() && !options.text.empty())
    throw Error(Code::usage, "--audio and --text exclude each other: give one of them");
  if (!options.audio.empty()) open_input(options.audio);
  avatar_directory(options.avatar, context);
}

}  // namespace

void add_infer(Commands& commands) {
  const auto options = std::make_shared<InferOptions>();
  CLI::App& command = commands.add(
      {.name = "infer",
       .summary = "Render a talking avatar to a video",
       .examples = "  navtalk infer --text \"Hello!\" --output hello.mp4\n"
                   "  navtalk infer --avatar theo --audio speech.wav\n"
                   "  navtalk infer --avatar ./anna --audio speech.wav --output anna.mp4\n",
       .action = [options](Context& context) {
         check(*options, context);
         return render_module().infer(*options, context);
       }});
  add_what(command, *options);
  add_how(command, *options);
}

}  // namespace navtalk::cmd
