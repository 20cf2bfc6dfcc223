// navtalk infer: speech and an avatar to videos, offline.
#include <fmt/format.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>

#include "avatars/bundle/bundle.h"
#include "avatars/bundle/library.h"
#include "avatars/render/render.h"
#include "cmd/defaults.h"
#include "cmd/render_module/bodies.h"
#include "cmd/render_module/infer/output.h"
#include "cmd/render_module/infer/sound_input.h"
#include "cmd/render_module/infer/utterances.h"
#include "cmd/render_module/media_limits.h"
#include "cmd/render_module/other_faces.h"
#include "core/base/error.h"
#include "core/log/log.h"
#include "gpu/model/model.h"

namespace navtalk::cmd {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr const char* k_voice = "en-us+f3";  // of avatars that have none of their own

// One run of the command: the avatar, and the model from the first utterance that gets as far as
// needing it.
class Rendering {
 public:
  Rendering(InferOptions& options, Context& context)
      : options_(options),
        context_(context),
        avatar_(Bundle::open(options.avatar_directory, media_limits(context))) {
    const AvatarInfo& info = avatar_.info();
    if (options_.voice.empty()) options_.voice = info.voice.empty() ? k_voice : info.voice;
    fps_ = options_.fps.value_or(info.fps);
    size_ = picture_size(options_.size, info.width, info.height);
  }

  const std::string& avatar_id() const { return avatar_.info().id; }
  void refuse(const Utterance& utterance) const;
  void render_one(const Utterance& utterance);

 private:
  InferOutput output_for(const Utterance& utterance) const;
  Model& model();
  void report(const Utterance& utterance, const RenderedVideo& video, double elapsed_s);

  InferOptions& options_;
  Context& context_;
  Bundle avatar_;
  FrameRate fps_ = 25;
  PictureSize size_;
  std::optional<Model> model_;
};

Model& Rendering::model() {
  if (model_) return *model_;
  const fs::path models = models_directory(options_.models, context_);
  warn_of_other_faces(models, avatar_id());
  avatar_.ensure_latents(latents_of_model(models), LatentCache::of_user(), context_.progress,
                         context_.stop);
  model_ = Model::load({.models = models,
                        .device = parse_device(options_.device),
                        .precision = parse_precision(options_.precision),
                        .threads = options_.threads,
                        .vae_encoder = false});
  return *model_;
}

// What would be found out only after the work for the utterances before it.
void Rendering::refuse(const Utterance& utterance) const {
  std::error_code other;
  if (!utterance.audio.empty() && fs::equivalent(utterance.audio, utterance.output, other))
    throw Error(Code::usage, "--output is the file of --audio: give it another name");
  const OutputTarget target = output_target(utterance.output);
  if (target.kind == OutputTarget::Kind::standard_output && context_.json)
    throw Error(Code::usage, "--json and --output - both write to standard output: leave one out");
  if (!options_.force && target.kind == OutputTarget::Kind::file && fs::exists(target.path, other))
    throw Error(Code::invalid, target.path.string() + " exists: choose another output, or --force");
}

InferOutput Rendering::output_for(const Utterance& utterance) const {
  return InferOutput({.target = output_target(utterance.output),
                      .frames = options_.frames,
                      .force = options_.force,
                      .size = size_,
                      .crf = options_.crf,
                      .kbit_per_s = options_.kbit_per_s,
                      .subtitles = options_.subtitles});
}

void Rendering::render_one(const Utterance& utterance) {
  const auto start = Clock::now();
  InferOutput output = output_for(utterance);
  SoundInput sound(utterance, options_, media_limits(context_), context_.stop);
  Model& nets = model();
  try {
    output.start({.width = avatar_.info().width,
                  .height = avatar_.info().height,
                  .fps = fps_,
                  .audio = sound.file(),
                  .audio_start_s = options_.start_s,
                  .duration_s = sound.audio().duration_s(),
                  .limits = media_limits(context_),
                  .cues = sound.cues()});
    render(
        nets, avatar_, sound.take_audio(),
        {.fps = fps_,
         .batch = options_.batch,
         .unsharp =
             options_.sharpen ? std::optional(Unsharp{.amount = *options_.sharpen}) : std::nullopt},
        [&](std::int64_t t, std::int64_t count, ConstImageView bgr) {
          output.write(bgr);
          context_.progress("rendering", static_cast<std::size_t>(t + 1),
                            static_cast<std::size_t>(count));
        },
        context_.stop);
    const RenderedVideo video = output.finish(context_.stop);
    report(utterance, video, std::chrono::duration<double>(Clock::now() - start).count());
  } catch (const Error& error) {
    throw Error(error.code(), sound.named(error.message()));
  }
}

void Rendering::report(const Utterance& utterance, const RenderedVideo& video, double elapsed_s) {
  const double duration_s = fps_.seconds(video.frames);
  if (context_.json) {
    nlohmann::ordered_json object;
    if (!utterance.audio.empty()) put_path(object, "audio", utterance.audio);
    if (video.file) put_path(object, "output", *video.file);
    if (video.frames_directory) put_path(object, "frames_directory", *video.frames_directory);
    if (video.subtitles) put_path(object, "subtitles", *video.subtitles);
    object["avatar"] = options_.avatar;
    put_path(object, "avatar_directory", options_.avatar_directory);
    object["frames"] = video.frames;
    object["fps"] = fps_;
    object["duration_s"] = duration_s;
    object["elapsed_s"] = elapsed_s;
    context_.out.json(object);
    context_.out.flush();
    return;
  }
  const std::string name = video.file               ? video.file->native()
                           : video.frames_directory ? video.frames_directory->native()
                                                    : "standard output";
  const std::string line =
      fmt::format("{}: {}, {:.2f} s of video in {:.2f} s ({:.2f} x real time)", name,
                  counted(video.frames, "frame"), duration_s, elapsed_s, duration_s / elapsed_s);
  if (!video.file && !video.frames_directory) {
    log::info(line);  // the video itself is there
    return;
  }
  context_.out.write(line + "\n");
  context_.out.flush();
}

void make_folder(const fs::path& folder) {
  std::error_code error;
  if (folder.empty() || fs::create_directory(folder, error) || !error) return;
  throw Error(Code::failed,
              fmt::format("the folder {} cannot be made: {}", folder.string(), error.message()));
}

}  // namespace

int infer(InferOptions& options, Context& context) {
  Rendering rendering(options, context);
  const std::vector<Utterance> utterances =
      list_utterances(options, rendering.avatar_id(), context.stop);
  for (const Utterance& utterance : utterances) rendering.refuse(utterance);
  make_folder(options.output_directory);
  for (const Utterance& utterance : utterances) rendering.render_one(utterance);
  return 0;
}

}  // namespace navtalk::cmd
