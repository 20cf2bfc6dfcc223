// navtalk infer: speech and an avatar to a video, offline.
#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "avatars/bundle/bundle.h"
#include "avatars/bundle/library.h"
#include "avatars/render/render.h"
#include "cmd/defaults.h"
#include "cmd/render_module/bodies.h"
#include "cmd/render_module/infer_output.h"
#include "cmd/render_module/media_limits.h"
#include "core/base/error.h"
#include "core/files/partial_path.h"
#include "core/files/temporary_folder.h"
#include "core/log/log.h"
#include "core/media/decode/audio.h"
#include "core/media/speech.h"
#include "gpu/features/mel.h"
#include "gpu/model/model.h"

namespace navtalk::cmd {
namespace {

namespace fs = std::filesystem;

constexpr const char* k_voice = "en-us+f3";  // of avatars that have none of their own

// The spoken text as a WAV file that lives as long as this object.
class SpokenText {
 public:
  SpokenText(const InferOptions& options, const std::stop_token& stop) {
    speak(options.text, options.voice, path(), stop);
  }

  fs::path path() const { return folder_.path() / "speech.wav"; }

 private:
  TemporaryFolder folder_;
};

Model load_model(const InferOptions& options, const fs::path& models) {
  return Model::load({.models = models,
                      .device = parse_device(options.device),
                      .precision = parse_precision(options.precision),
                      .threads = options.threads,
                      .vae_encoder = false});
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

}  // namespace

int infer(InferOptions& options, Context& context) {
  const auto start = std::chrono::steady_clock::now();
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
  Audio audio = decode_audio(audio_file, context.stop, media_limits(context), k_sample_rate_hz);
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
      model, avatar, std::move(audio),
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

}  // namespace navtalk::cmd
