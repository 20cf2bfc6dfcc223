// One video: the checks before any work, and the rendering; and the model, which many videos share.
// One thread at a time. Private to the command.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>

#include "avatars/bundle/bundle.h"
#include "avatars/render/render.h"
#include "cmd/context.h"
#include "cmd/infer/infer.h"
#include "cmd/infer/video_renderer.h"
#include "cmd/render_module/infer/output.h"
#include "cmd/render_module/infer/sound_input.h"
#include "cmd/render_module/infer/utterances.h"
#include "core/base/progress.h"
#include "gpu/model/model.h"

namespace navtalk::cmd {

// The model that the options name, loaded at its first use.
class SharedModel {
 public:
  SharedModel(const InferOptions& options, Context& context)
      : options_(options), context_(context) {}

  // Where its faces come from, once it is loaded; empty: itself.
  DrawFaces faces() const;
  // Loaded, for an avatar that has its latents then. Errors of Model::load(): of no input.
  Model& for_avatar(Bundle& avatar);
  void load();
  // As segments name it, of the model that is loaded: "cpu" or "cuda".
  std::string device() const;

 private:
  std::filesystem::path folder() const;
  Model loaded(bool draws);

  const InferOptions& options_;
  Context& context_;
  std::optional<Model> model_;
  Device device_{};
  bool draws_ = true;              // else a worker does, and only what hears is loaded
  std::set<std::string> avatars_;  // that were used with it
};

class Rendering {
 public:
  // Everything outlives it. Sets the voice and the rate that the options leave to the avatar.
  Rendering(InferOptions& options, Context& context, Bundle& avatar, SharedModel& model);

  FrameRate fps() const { return fps_; }
  // What would be found out only after the work for the utterances before it.
  void refuse(const Utterance& utterance) const;
  InferOutput::Options output_options(const Utterance& utterance) const;
  // The model with the avatar, whose errors are of no input.
  void prepare();

  struct Steps {
    std::function<void()> prepared{};  // the model and the avatar are
    std::function<void(std::int64_t done, std::int64_t of)> progress{};  // frames
    InferOutput::BeforeCommit before_commit{};
    std::optional<SegmentWork> segments{};
  };
  RenderedVideo render(InferOutput& output, SoundInput& sound, const Steps& steps);

 private:
  std::int64_t frames_of(const Audio& audio) const;
  void refuse_quality(const OutputTarget& target) const;

  InferOptions& options_;
  Context& context_;
  Bundle& avatar_;
  SharedModel& shared_model_;
  Model* model_ = nullptr;  // once it is prepared
  FrameRate fps_ = 25;
  PictureSize size_;
};

// The avatar's voice where the options name none.
void choose_voice(InferOptions& options, const AvatarInfo& avatar);

}  // namespace navtalk::cmd
