// navtalk infer: speech and an avatar to a video, offline.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "avatars/bundle/bundle.h"
#include "avatars/bundle/library.h"
#include "avatars/render/render.h"
#include "cmd/commands.h"
#include "cmd/defaults.h"
#include "cmd/frame_rate_option.h"
#include "cmd/infer/output.h"
#include "core/base/error.h"
#include "core/files/partial_path.h"
#include "core/log/log.h"
#include "core/media/decode/audio.h"
#include "core/media/speech.h"
#include "gpu/model/model.h"

namespace navtalk::cmd {
namespace {

namespace fs = std::filesystem;

constexpr const char* k_voice = "en-us+f3";  // of avatars that have none of their own

struct InferOptions {
  std::string avatar = "ada", text, voice, device = "cpu", precision = "auto";
  fs::path audio, output, frames, models;
  int threads = 0, batch = 0;
  FrameRate fps = 25;
  std::optional<float> sharpen;
  bool force = false;
};

// The spoken text as a WAV file that lives as long as this object.
class SpokenText {
 public:
  SpokenText(const InferOptions& options, const std::stop_token& stop) {
    std::error_code missing;
    const fs::path above = fs::temp_directory_path(missing);
    std::string pattern = (above / "navtalk-XXXXXX").native();
    if (missing || ::mkdtemp(pattern.data()) == nullptr) {
      const char* wanted = std::getenv("TMPDIR");
      throw Error(Code::failed,
                  fmt::format("cannot make a temporary folder in {}: set TMPDIR to one that can be "
                              "written to",
                              missing && wanted != nullptr ? wanted : above.native()));
    }
    directory_ = pattern;
    try {
      speak(options.text, options.voice, path(), stop);
    } catch (...) {
      remove();
      throw;
    }
  }
  ~SpokenText() { remove(); }
  SpokenText(const SpokenText&) = delete;
  SpokenText& operator=(const SpokenText&) = delete;

  fs::path path() const { return directory_ / "speech.wav"; }

 private:
  void remove() {
    std::error_code ignored;
    fs::remove_all(directory_, ignored);
  }
  fs::path directory_;
};

Model load_model(const InferOptions& options, const fs::path& models) {
  return Model::load({.models = models,
                      .device = parse_device(options.device),
                      .precision = parse_precision(options.precision),
                      .threads = options.threads,
                      .vae_encoder = false});
}

void check(const InferOptions& options) {
  if (options.audio.empty() && options.text.empty())
    throw Error(Code::usage, "give the speech: --audio FILE, or --text TEXT that is not empty");
  if (!options.audio.empty() && !options.text.empty())
    throw Error(Code::usage, "--audio and --text exclude each other: give one of them");
}

void report(const InferOptions& options, const RenderedVideo& video, double elapsed_s,
            Context& context) {
  if (context.json) {
    nlohmann::ordered_json object;
    if (video.file) put_path(object, "output", *video.file);
    if (video.frames_directory) put_path(object, "frames_directory", *video.frames_directory);
    object["avatar"] = options.avatar;
    object["frames"] = video.frames;
    object["fps"] = options.fps;
    object["duration_s"] = options.fps.seconds(video.frames);
    object["elapsed_s"] = elapsed_s;
    context.out.json(object);
    return;
  }
  const double duration_s = options.fps.seconds(video.frames);
  context.out.print("{}: {}, {:.2f} s of video in {:.2f} s ({:.2f} x real time)\n",
                    (video.file ? *video.file : *video.frames_directory).native(),
                    counted(video.frames, "frame"), duration_s, elapsed_s, duration_s / elapsed_s);
}

int infer(InferOptions& options, Context& context) {
  const auto start = std::chrono::steady_clock::now();
  check(options);
  if (!options.output.empty() && !options.output.extension().empty() &&
      options.output.extension() != ".mp4") {
    log::warn(options.output.string() + " will hold an MP4, whatever its name says");
  }
  std::error_code other;
  if (!options.audio.empty() && fs::equivalent(options.audio, options.output, other))
    throw Error(Code::usage, "--output is the file of --audio: give it another name");
  Bundle avatar = Bundle::open(avatar_directory(options.avatar, context));
  if (options.output.empty() && options.frames.empty()) options.output = avatar.info().id + ".mp4";
  InferOutput output({.file = options.output, .frames = options.frames, .force = options.force});

  if (options.voice.empty())
    options.voice = avatar.info().voice.empty() ? k_voice : avatar.info().voice;
  std::optional<SpokenText> spoken;
  if (!options.text.empty()) spoken.emplace(options, context.stop);
  const fs::path audio_file = spoken ? spoken->path() : options.audio;
  const Audio audio = decode_audio(audio_file, context.stop);
  if (!audio.damage.empty()) {
    log::warn(fmt::format("{}; going on with the {:.2f} s that are there", audio.damage,
                          audio.duration_s()));
  }

  const fs::path models = models_directory(options.models, context);
  avatar.ensure_latents(latents_of_model(models), LatentCache::of_user(), context.progress,
                        context.stop);
  Model model = load_model(options, models);
  output.start(avatar.info().width, avatar.info().height, options.fps, audio_file);
  render(
      model, avatar, audio,
      {.fps = options.fps,
       .batch = options.batch,
       .unsharp =
           options.sharpen ? std::optional(Unsharp{.amount = *options.sharpen}) : std::nullopt},
      [&](std::int64_t t, std::int64_t count, ConstImageView bgr) {
        output.write(bgr);
        context.progress("rendering", static_cast<std::size_t>(t + 1),
                         static_cast<std::size_t>(count));
      },
      context.stop);
  const RenderedVideo video = output.finish();
  report(options, video,
         std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), context);
  return 0;
}

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

}  // namespace

void add_infer(Commands& commands) {
  const auto options = std::make_shared<InferOptions>();
  CLI::App& command = commands.add(
      {.name = "infer",
       .summary = "Render a talking avatar to a video",
       .examples = "  navtalk infer --text \"Hello!\" --output hello.mp4\n"
                   "  navtalk infer --avatar theo --audio speech.wav\n"
                   "  navtalk infer --avatar ./anna --audio speech.wav --output anna.mp4\n",
       .action = [options](Context& context) { return infer(*options, context); },
       .loads_nets = true});
  add_what(command, *options);
  add_how(command, *options);
}

}  // namespace navtalk::cmd
