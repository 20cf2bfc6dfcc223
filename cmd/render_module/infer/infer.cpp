// navtalk infer: speech and an avatar to videos, offline.
#include <fmt/format.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>

#include "avatars/bundle/bundle.h"
#include "cmd/failure.h"
#include "cmd/render_module/bodies.h"
#include "cmd/render_module/infer/failures.h"
#include "cmd/render_module/infer/output.h"
#include "cmd/render_module/infer/rendering.h"
#include "cmd/render_module/infer/sound_input.h"
#include "cmd/render_module/infer/utterances.h"
#include "cmd/render_module/media_limits.h"
#include "core/base/device_lost.h"
#include "core/base/error.h"
#include "core/log/log.h"

namespace navtalk::cmd {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// One run of the command: one avatar, and the model from the first utterance that gets as far as
// needing it.
class Run {
 public:
  Run(InferOptions& options, Context& context)
      : options_(options),
        context_(context),
        avatar_(Bundle::open(options.avatar_directory, media_limits(context))),
        model_(options, context),
        rendering_(options, context, avatar_, model_) {}

  const std::string& avatar_id() const { return avatar_.info().id; }
  void refuse(const Utterance& utterance) const { rendering_.refuse(utterance); }
  // stage: what it is called in the progress.
  void render_one(const Utterance& utterance, const std::string& stage, Failures& failures);

 private:
  void report(const Utterance& utterance, const RenderedVideo& video, double elapsed_s);

  InferOptions& options_;
  Context& context_;
  Bundle avatar_;
  SharedModel model_;
  Rendering rendering_;
};

void Run::render_one(const Utterance& utterance, const std::string& stage, Failures& failures) {
  // A disk that is full, or a voice that is not there, is met by the next input too.
  const auto of_output = [](Code code) { return code == Code::failed; };
  const auto of_sound = [&](Code code) {
    return code == Code::not_found && utterance.audio.empty();
  };
  const Clock::time_point start = Clock::now();
  std::optional<InferOutput> output;
  std::optional<SoundInput> sound;
  const bool ready = failures.attempt(utterance, of_output, [&] {
    output.emplace(rendering_.output_options(utterance));
  }) && failures.attempt(utterance, of_sound, [&] {
    sound.emplace(utterance, options_, media_limits(context_), context_.stop);
  });
  if (!ready) return;
  rendering_.prepare();  // its errors are of no input
  const auto progress = [&](std::int64_t done, std::int64_t of) {
    context_.progress(stage, static_cast<std::size_t>(done), static_cast<std::size_t>(of));
  };
  failures.attempt(utterance, of_output, [&] {
    const RenderedVideo video = rendering_.render(*output, *sound, {.progress = progress});
    report(utterance, video, std::chrono::duration<double>(Clock::now() - start).count());
  });
}

void Run::report(const Utterance& utterance, const RenderedVideo& video, double elapsed_s) {
  const double duration_s = rendering_.fps().seconds(video.frames);
  context_.clear_progress();
  if (context_.json) {
    nlohmann::ordered_json object;
    if (!utterance.audio.empty()) put_path(object, "audio", utterance.audio);
    if (video.file) put_path(object, "output", *video.file);
    if (video.frames_directory) put_path(object, "frames_directory", *video.frames_directory);
    if (video.subtitles) put_path(object, "subtitles", *video.subtitles);
    object["avatar"] = options_.avatar;
    put_path(object, "avatar_directory", options_.avatar_directory);
    object["frames"] = video.frames;
    object["fps"] = rendering_.fps();
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

int render_all(Run& run, InferOptions& options, Context& context) {
  std::vector<Utterance> utterances = list_utterances(options, run.avatar_id(), context.stop);
  Failures failures(context, utterances.size());
  const auto none = [](Code) { return false; };
  std::erase_if(utterances, [&](const Utterance& utterance) {
    return !failures.attempt(utterance, none, [&] { run.refuse(utterance); });
  });
  if (!utterances.empty()) make_folder(options.output_directory);
  for (std::size_t i = 0; i < utterances.size(); ++i) {
    const std::string stage = utterances.size() == 1
                                  ? "rendering"
                                  : fmt::format("rendering {} of {}", i + 1, utterances.size());
    run.render_one(utterances[i], stage, failures);
  }
  failures.throw_if_any();
  return 0;
}

}  // namespace

int infer(InferOptions& options, Context& context) {
  Run run(options, context);
  try {
    return render_all(run, options, context);
  } catch (const DeviceLost&) {
    end_without_device({.json = context.json, .colour = context.colour}, context.out);
  }
}

}  // namespace navtalk::cmd
