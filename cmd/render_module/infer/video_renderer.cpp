// The renderer of jobs: what infer does for one utterance, for many with different avatars and options.
#include "cmd/infer/video_renderer.h"

#include <memory>

#include "avatars/bundle/bundle.h"
#include "cmd/render_module/bodies.h"
#include "cmd/render_module/infer/rendering.h"
#include "cmd/render_module/media_limits.h"
#include "core/process/stream_input.h"

namespace navtalk::cmd {
namespace {

Utterance utterance_of(const InferOptions& options) {
  if (options.audio.empty())
    return {.text = options.text, .output = options.output, .name = "the text"};
  return {.audio = options.audio.front(),
          .output = options.output,
          .name = stream_name(options.audio.front())};
}

class JobVideos {
 public:
  JobVideos(const InferOptions& options, Context& context)
      : options_(options), context_(context), model_(options_, context) {}

  void open(const InferOptions& options) { avatar(options.avatar_directory); }
  void load() { model_.load(); }
  std::string device() const { return model_.device(); }

  double speech_s(InferOptions options) {
    const AvatarInfo& info = avatar(options.avatar_directory).info();
    choose_voice(options, info);
    const SoundInput sound(utterance_of(options), options, media_limits(context_), context_.stop);
    const double duration_s = sound.audio().duration_s();
    if (duration_s * options.fps.value_or(info.fps).hz() < 1)
      throw Error(Code::invalid, "the speech is shorter than one frame of the video");
    const OutputTarget target = output_target(options.output);
    if (target.format != nullptr) refuse_long(*target.format, duration_s);
    return duration_s;
  }

  FinishedVideo render(InferOptions options, const VideoRenderer::Steps& steps) {
    Rendering rendering(options, context_, avatar(options.avatar_directory), model_);
    const Utterance utterance = utterance_of(options);
    rendering.refuse(utterance);
    InferOutput output(rendering.output_options(utterance));
    SoundInput sound(utterance, options, media_limits(context_), context_.stop);
    const RenderedVideo video = rendering.render(output, sound,
                                                 {.prepared = steps.prepared,
                                                  .progress = steps.progress,
                                                  .before_commit = steps.before_commit,
                                                  .segments = steps.segments});
    return {.frames = video.frames,
            .rendered = video.rendered,
            .duration_s = rendering.fps().seconds(video.frames)};
  }

 private:
  // The last one is kept: lists often have the same avatar in many rows.
  Bundle& avatar(const std::filesystem::path& directory) {
    if (!avatar_ || directory != directory_) {
      avatar_.reset();
      avatar_ = Bundle::open(directory, media_limits(context_));
      directory_ = directory;
    }
    return *avatar_;
  }

  InferOptions options_;
  Context& context_;
  SharedModel model_;
  std::filesystem::path directory_;
  std::optional<Bundle> avatar_;
};

}  // namespace

VideoRenderer video_renderer(const InferOptions& options, Context& context) {
  const auto videos = std::make_shared<JobVideos>(options, context);
  return {
      .open = [videos](const InferOptions& one) { videos->open(one); },
      .speech_s = [videos](const InferOptions& one) { return videos->speech_s(one); },
      .load = [videos] { videos->load(); },
      .device = [videos] { return videos->device(); },
      .render = [videos](const InferOptions& one,
                         const VideoRenderer::Steps& steps) { return videos->render(one, steps); }};
}

}  // namespace navtalk::cmd
