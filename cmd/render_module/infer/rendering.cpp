#include "cmd/render_module/infer/rendering.h"

#include <fmt/format.h>

#include "avatars/bundle/face_finish.h"
#include "avatars/render/render.h"
#include "cmd/defaults.h"
#include "cmd/render_module/media_limits.h"
#include "cmd/render_module/other_faces.h"
#include "core/base/device_lost.h"
#include "core/base/error.h"
#include "core/base/out_of_memory.h"
#include "core/files/whole_file.h"
#include "core/log/log.h"
#include "core/process/stream_input.h"
#include "gpu/features/mel.h"
#include "gpu/features/windows.h"
#include "gpu/model/usable_device.h"
#include "server/worker/job/face_client.h"
#include "server/worker/job/face_model.h"

namespace navtalk::cmd {
namespace {

namespace fs = std::filesystem;

constexpr const char* k_voice = "en-us+f3";  // of avatars that have none of their own

std::optional<bool> match_colour_of(const InferOptions& options) {
  if (options.match_colour) return true;
  return options.no_match_colour ? std::optional(false) : std::nullopt;
}

}  // namespace

fs::path SharedModel::folder() const { return models_directory(options_.models, context_); }

Model SharedModel::loaded(bool draws) {
  device_ = usable_device(parse_device(options_.device));
  return Model::load({.models = folder(),
                      .device = device_,
                      .decoder_device = parse_device(options_.placement.decoder_device),
                      .precision = parse_precision(options_.precision),
                      .weights = parse_weight_format(options_.placement.weight_format),
                      .threads = options_.threads,
                      .graphs = !options_.placement.no_graphs,
                      .unet = draws,
                      .vae_decoder = draws,
                      .vae_encoder = false});
}

void SharedModel::load() {
  if (model_) return;
  if (options_.faces) {
    Model hears = loaded(false);
    const auto model = server::shared_face_model(folder(), hears.info());
    draws_ = !model || !options_.faces->agree(*model);
    if (!draws_) model_ = std::move(hears);
  }
  if (!model_) model_ = loaded(true);
}

std::string SharedModel::device() const {
  return device_.kind == Device::Kind::cpu ? "cpu" : "cuda";
}

DrawFaces SharedModel::faces() const {
  if (draws_) return {};
  return [faces = options_.faces](const NdArray<float>& latents, const NdArray<float>& windows) {
    return faces->faces(latents, windows);
  };
}

// Latents first: a model that does not fit them is told before it is loaded.
Model& SharedModel::for_avatar(Bundle& avatar) {
  const fs::path models = folder();
  if (avatars_.insert(avatar.info().id).second) warn_of_other_faces(models, avatar.info().id);
  avatar.ensure_latents(latents_of_model(models), LatentCache::of_user(), context_.progress,
                        context_.stop);
  load();
  return *model_;
}

void choose_voice(InferOptions& options, const AvatarInfo& avatar) {
  if (options.voice.empty()) options.voice = avatar.voice.empty() ? k_voice : avatar.voice;
}

Rendering::Rendering(InferOptions& options, Context& context, Bundle& avatar, SharedModel& model)
    : options_(options), context_(context), avatar_(avatar), shared_model_(model) {
  const AvatarInfo& info = avatar_.info();
  choose_voice(options_, info);
  fps_ = options_.fps.value_or(info.fps);
  size_ = picture_size(options_.size, info.width, info.height);
}

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

void Rendering::prepare() {
  if (model_ == nullptr) model_ = &shared_model_.for_avatar(avatar_);
}

// As render() counts them.
std::int64_t Rendering::frames_of(const Audio& audio) const {
  if (audio.rate_hz == k_sample_rate_hz)
    return frame_count(static_cast<std::int64_t>(audio.samples.size()), fps_);
  return frame_count(static_cast<std::int64_t>(resample(audio, k_sample_rate_hz).samples.size()),
                     fps_);
}

RenderedVideo Rendering::render(InferOutput& output, SoundInput& sound, const Steps& steps) {
  prepare();
  if (steps.prepared) steps.prepared();
  const AvatarInfo& info = avatar_.info();
  const FaceFinish finish = face_finish(info, options_.sharpen, match_colour_of(options_));
  // A job of a worker, whose faces come from another process, has the same pixels whoever draws them.
  const bool on_device = !options_.faces && output.takes_nv12(info.width, info.height) &&
                         renders_on_device(*model_, info);
  try {
    output.start({.width = info.width,
                  .height = info.height,
                  .fps = fps_,
                  .audio = sound.file(),
                  .audio_start_s = options_.start_s,
                  .duration_s = sound.audio().duration_s(),
                  .nv12 = on_device,
                  .limits = media_limits(context_),
                  .cues = sound.cues(),
                  .segments = steps.segments,
                  .device = shared_model_.device() + (on_device ? "/nv12" : ""),
                  .frames = steps.segments ? frames_of(sound.audio()) : 0,
                  .segment_frames = segment_frames(fps_, faces_per_pass(*model_, options_.batch))});
    navtalk::render(
        *model_, avatar_, sound.take_audio(),
        {.fps = fps_,
         .batch = options_.batch,
         .finish = finish,
         .faces = shared_model_.faces(),
         .on_device = on_device,
         .wanted = output.wanted()},
        [&](std::int64_t t, std::int64_t count, const RenderedPicture& picture) {
          output.write(t, picture);
          steps.progress(t + 1, count);
        },
        context_.stop);
    RenderedVideo video = output.finish(context_.stop, steps.before_commit);
    if (video.lacks_letters) {
      context_.clear_progress();
      log::warn(
          "no font of this system has some of the subtitles' letters: install one, such as "
          "the package fonts-noto-cjk for Chinese, Japanese and Korean");
    }
    return video;
  } catch (const OutOfMemory& error) {
    throw OutOfMemory(sound.named(error.message()));
  } catch (const DeviceLost& error) {
    throw DeviceLost(sound.named(error.message()));
  } catch (const Error& error) {
    throw Error(error.code(), sound.named(error.message()));
  }
}

}  // namespace navtalk::cmd
