// navtalk infer: speech and an avatar to a video, offline.
#include "cmd/infer/infer.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "cmd/artifacts/commands.h"
#include "cmd/commands.h"
#include "cmd/defaults.h"
#include "cmd/frame_rate_option.h"
#include "cmd/render_module/render_module.h"
#include "core/base/error.h"
#include "core/files/whole_file.h"
#include "core/process/stream_input.h"

namespace navtalk::cmd {
namespace {

void add_what(CLI::App& command, InferOptions& options) {
  command
      .add_option("--avatar", options.avatar,
                  "Avatar: its id, or its folder, with a slash; the demo has ada, theo")
      ->capture_default_str()
      ->type_name("DIR|ID");
  command
      .add_option("--audio", options.audio,
                  "Speech: any audio file, or - for standard input; several make several videos")
      ->type_name("FILE");
  command.add_option("--text", options.text, "Speech: a text that espeak-ng speaks")
      ->type_name("TEXT");
  command
      .add_option("--text-file", options.text_file,
                  "Speech: a file of texts, each paragraph a video (with --ssml: one)")
      ->type_name("FILE");
  command
      .add_option("--voice", options.voice, "espeak-ng's voice for texts (default: the avatar's)")
      ->type_name("VOICE");
  command.add_flag("--ssml", options.ssml, "The texts are SSML, whose tags espeak-ng obeys");
  command.add_option("--start", options.start_s, "Leave out what the speech says before this time")
      ->check(CLI::Range(0.0, 1e6))
      ->type_name("SECONDS");
  command.add_option("--duration", options.duration_s, "Render at most so much of the speech")
      ->check(CLI::Range(0.001, 1e6))
      ->type_name("SECONDS");
}

void add_where(CLI::App& command, InferOptions& options) {
  CLI::Option& output =
      *command
           .add_option("-o,--output", options.output,
                       "Video to write: .mp4, .mov, .mkv, .webm, .gif or .webp; DIR/ for PNGs with "
                       "the sound; - for standard output (default: the avatar's id with .mp4)")
           ->type_name("FILE");
  CLI::Option& folder =
      *command
           .add_option("--output-dir", options.output_directory,
                       "Folder for the videos of several inputs, each named after its input")
           ->type_name("DIR")
           ->excludes(&output);
  command.add_option("--format", options.format, "Ending of the videos in --output-dir")
      ->check(CLI::IsMember({"mp4", "mov", "mkv", "webm", "gif", "webp"}))
      ->capture_default_str()
      ->type_name("ENDING")
      ->needs(&folder);
  command.add_option("--frames", options.frames, "Folder for every frame as PNG")
      ->type_name("DIR")
      ->excludes(&folder);
  add_optional_frame_rate(command, options.fps,
                          "Frames per second (default: the avatar's); the model was trained at 25");
  command
      .add_option("--size", options.size,
                  "Size of the pictures in pixels, or the width alone (default: the avatar's)")
      ->type_name("WIDTHxHEIGHT");
  CLI::Option& crf = *command
                          .add_option("--crf", options.crf,
                                      "Quality, lower is better: 0 to 51 (default 18), .webm to "
                                      "63 (default 28)")
                          ->check(CLI::Range(0.0, 63.0))
                          ->type_name("N");
  command
      .add_option("--bitrate", options.kbit_per_s,
                  "Average of the pictures in kbit/s, instead of a quality")
      ->check(CLI::Range(10, 500'000))
      ->type_name("KBITS")
      ->excludes(&crf);
  command
      .add_option("--subtitles", options.subtitles,
                  "Subtitles of a text: a file beside the video, or burnt into the pictures")
      ->check(CLI::IsMember({"srt", "vtt", "burn"}))
      ->type_name("KIND");
  command.add_flag("--force", options.force, "Replace existing files");
}

}  // namespace

void add_infer_engine_options(CLI::App& command, InferOptions& options) {
  command
      .add_option("--models", options.models,
                  "MuseTalk's checkpoint folder (default: the demo model)")
      ->type_name("DIR");
  command.add_option("--device", options.device, "cpu, cuda, cuda:N; auto: a GPU if there is one")
      ->capture_default_str()
      ->type_name("DEVICE");
  add_net_placement(command, options.placement);
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
}

void add_infer_options(CLI::App& command, InferOptions& options) {
  add_what(command, options);
  add_where(command, options);
  add_infer_engine_options(command, options);
  command
      .add_option("--sharpen", options.sharpen,
                  "Unsharp mask on the face, such as 1.2; default: what the avatar says")
      ->check(CLI::Range(0.0, 10.0))
      ->type_name("AMOUNT");
  CLI::Option* const match =
      command.add_flag("--match-colour", options.match_colour,
                       "Give the face the brightness and contrast of the frame around its seam");
  command
      .add_flag("--no-match-colour", options.no_match_colour,
                "Leave the face's colours as they are, although the avatar says otherwise")
      ->excludes(match);
}

// The module takes longer to load than most commands take.
void check_infer_options(InferOptions& options, const Context& context) {
  const int given = !options.audio.empty() + !options.text.empty() + !options.text_file.empty();
  if (given == 0)
    throw Error(
        Code::usage,
        "give the speech: --audio FILE, --text TEXT that is not empty, or --text-file FILE");
  if (given > 1)
    throw Error(Code::usage,
                "--audio, --text and --text-file exclude each other: give one of them");
  if (options.ssml && !options.audio.empty())
    throw Error(Code::usage, "--ssml is for texts: give --text or --text-file");
  if (!options.subtitles.empty() && (!options.audio.empty() || options.ssml))
    throw Error(Code::usage,
                "--subtitles needs a text without --ssml: its words are what is shown");
  // Of several, one that cannot be read stops no other.
  if (options.audio.size() == 1 && !is_stream(options.audio.front()))
    open_input(options.audio.front());
  if (!options.text_file.empty() && !is_stream(options.text_file)) open_input(options.text_file);
  options.avatar_directory = avatar_directory(options.avatar, context);
}

void add_infer(Commands& commands) {
  const auto options = std::make_shared<InferOptions>();
  CLI::App& command =
      commands.add({.name = "infer",
                    .summary = "Render a talking avatar to a video",
                    .examples = "  navtalk infer --text \"Hello!\" -o hello.mp4\n"
                                "  navtalk infer --avatar theo --audio speech.wav\n"
                                "  navtalk infer --avatar ./anna --audio speech.wav -o anna.webm\n"
                                "  navtalk infer --audio a.wav b.wav --output-dir videos\n"
                                "  record | navtalk infer --audio - -o - | play\n",
                    .action = [options](Context& context) {
                      use_sources(options->sources, context);
                      check_infer_options(*options, context);
                      return render_module().infer(*options, context);
                    }});
  add_infer_options(command, *options);
  add_source_option(command, options->sources);
}

}  // namespace navtalk::cmd
