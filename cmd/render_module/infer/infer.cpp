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
#include "cmd/render_module/infer/failures.h"
#include "cmd/render_module/infer/output.h"
#include "cmd/render_module/infer/sound_input.h"
#include "cmd/render_module/infer/utterances.h"
#include "cmd/render_module/media_limits.h"
#include "cmd/render_module/other_faces.h"
#include "core/base/error.h"
#include "core/files/whole_file.h"
#include "core/log/log.h"
#include "core/process/stream_input.h"
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
  // stage: what it is called in the progress.
  void render_one(const Utterance& utterance, const std::string& stage, Failures& failures);

 private:
  void refuse_quality(const OutputTarget& target) const;
  InferOutput::Options output_options(const Utterance& utterance) const;
  Model& model();
  void write(const Utterance& utterance, const std::string& stage, InferOutput& output,
             SoundInput& sound);
  void report(const Utterance& utterance, const RenderedVideo& video, double elapsed_s);

  InferOptions& options_;
  Context& context_;
  Bundle avatar_;
  FrameRate fps_ = 25;
  PictureSize size_;
  std::optional<Model> model_;
  Clock::time_point start_;  // of the utterance
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
  refuse_quality(target);
  if (target.format != nullptr && fps_ > fastest_rate(*target.format))
    throw Error(Code::usage,
                fmt::format("{} frames per second are more than a {} has: give --fps "
                            "{} or less, or another ending",
                            text(fps_), target.format->ending, text(fastest_rate(*target.format))));
  if (!utterance.audio.empty() && !is_stream(utterance.audio)) open_input(utterance.audio);
  if (!options_.force && target.kind == OutputTarget::Kind::file && fs::exists(target.path, other))
    throw Error(Code::invalid, target.path.string() + " exists: choose another output, or --force");
}

void Rendering::refuse_quality(const OutputTarget& target) const {
  constexpr double k_h264_highest_crf = 51;
  if (!options_.crf && options_.kbit_per_s == 0) return;
  const bool h264 = target.format != nullptr && target.format->pictures == PictureCodec::h264;
  const bool vp9 = target.format != nullptr && target.format->pictures == PictureCodec::vp9;
  if (!h264 && !vp9)
    throw Error(Code::usage, "--crf and --bitrate are for .mp4, .mov, .mkv and .webm");
  if (h264 && options_.crf > k_h264_highest_crf)
    throw Error(Code::usage,
                fmt::format("--crf {}: H.264 has 0 to {}", *options_.crf, k_h264_highest_crf));
}

InferOutput::Options Rendering::output_options(const Utterance& utterance) const {
  return {.target = output_target(utterance.output),
          .frames = options_.frames,
          .force = options_.force,
          .size = size_,
          .crf = options_.crf,
          .kbit_per_s = options_.kbit_per_s,
          .subtitles = options_.subtitles};
}

void Rendering::render_one(const Utterance& utterance, const std::string& stage,
                           Failures& failures) {
  // A disk that is full, or a voice that is not there, is met by the next input too.
  const auto of_output = [](Code code) { return code == Code::failed; };
  const auto of_sound = [&](Code code) {
    return code == Code::not_found && utterance.audio.empty();
  };
  start_ = Clock::now();
  std::optional<InferOutput> output;
  std::optional<SoundInput> sound;
  const bool ready = failures.attempt(utterance, of_output, [&] {
    output.emplace(output_options(utterance));
  }) && failures.attempt(utterance, of_sound, [&] {
    sound.emplace(utterance, options_, media_limits(context_), context_.stop);
  });
  if (!ready) return;
  model();  // its errors are of no input
  failures.attempt(utterance, of_output, [&] { write(utterance, stage, *output, *sound); });
}

void Rendering::write(const Utterance& utterance, const std::string& stage, InferOutput& output,
                      SoundInput& sound) {
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
        model(), avatar_, sound.take_audio(),
        {.fps = fps_,
         .batch = options_.batch,
         .unsharp =
             options_.sharpen ? std::optional(Unsharp{.amount = *options_.sharpen}) : std::nullopt},
        [&](std::int64_t t, std::int64_t count, ConstImageView bgr) {
          output.write(bgr);
          context_.progress(stage, static_cast<std::size_t>(t + 1),
                            static_cast<std::size_t>(count));
        },
        context_.stop);
    const RenderedVideo video = output.finish(context_.stop);
    report(utterance, video, std::chrono::duration<double>(Clock::now() - start_).count());
  } catch (const Error& error) {
    throw Error(error.code(), sound.named(error.message()));
  }
}

void Rendering::report(const Utterance& utterance, const RenderedVideo& video, double elapsed_s) {
  const double duration_s = fps_.seconds(video.frames);
  context_.clear_progress();
  if (video.lacks_letters)
    log::warn(
        "no font of this system has some of the subtitles' letters: install one, such as "
        "the package fonts-noto-cjk for Chinese, Japanese and Korean");
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
  std::vector<Utterance> utterances = list_utterances(options, rendering.avatar_id(), context.stop);
  Failures failures(context, utterances.size());
  const auto none = [](Code) { return false; };
  std::erase_if(utterances, [&](const Utterance& utterance) {
    return !failures.attempt(utterance, none, [&] { rendering.refuse(utterance); });
  });
  if (!utterances.empty()) make_folder(options.output_directory);
  for (std::size_t i = 0; i < utterances.size(); ++i) {
    const std::string stage = utterances.size() == 1
                                  ? "rendering"
                                  : fmt::format("rendering {} of {}", i + 1, utterances.size());
    rendering.render_one(utterances[i], stage, failures);
  }
  failures.throw_if_any();
  return 0;
}

}  // namespace navtalk::cmd
