#include "cmd/job/renderer_on_cpu.h"

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "core/base/out_of_memory.h"
#include "core/log/log.h"

namespace navtalk::cmd {
namespace {

constexpr const char* k_cpu = "cpu";

class CpuBehind {
 public:
  explicit CpuBehind(RenderersByDevice renderers) : renderers_(std::move(renderers)) {}

  VideoRenderer& current() {
    if (!renderer_) renderer_ = renderers_.make(on_cpu_);
    return *renderer_;
  }

  void load() {
    change_to(false);
    try {
      current().load();
    } catch (const OutOfMemory& problem) {
      stand_in(problem, "the device has no memory for the nets: they are loaded on the CPU");
      current().load();
    }
  }

  FinishedVideo render(const InferOptions& options, VideoRenderer::Steps steps) {
    const std::string before =
        steps.segments ? device_of_segments(steps.segments->records) : std::string();
    if (before == k_cpu) {
      if (!on_cpu_ && current().device() != k_cpu) {
        log::info("the CPU goes on with a video whose segments it has rendered");
        change_to(true);
      }
      return current().render(options, steps);
    }
    if (on_cpu_ && why_.empty()) change_to(false);  // it was there for its segments' sake
    if (on_cpu_ && !before.empty()) throw waiting(why_);
    if (on_cpu_) renderers_.on_cpu(why_);
    bool finished = !before.empty();
    if (steps.segments)
      steps.segments->finished = [&finished,
                                  tell = steps.segments->finished](const FinishedSegment& segment) {
        finished = true;
        tell(segment);
      };
    try {
      return current().render(options, steps);
    } catch (const OutOfMemory& problem) {
      if (on_cpu_) throw;
      if (finished) throw waiting(problem.message());
      stand_in(problem, "the device has no memory for a video: the CPU renders it whole");
    }
    renderers_.on_cpu(why_);
    return current().render(options, steps);
  }

 private:
  // The nets of one are gone before those of the other come.
  void change_to(bool on_cpu) {
    why_.clear();
    if (on_cpu_ == on_cpu) return;
    renderer_.reset();
    on_cpu_ = on_cpu;
  }

  void stand_in(const OutOfMemory& problem, const char* told) {
    log::error(told, {{"error", problem.message()}});
    change_to(true);
    why_ = problem.message();
  }

  static OutOfMemory waiting(const std::string& why) {
    return OutOfMemory(
        "memory: the device has none for a video whose finished segments it rendered: " + why);
  }

  RenderersByDevice renderers_;
  bool on_cpu_ = false;
  std::string why_{};  // the CPU stands in; empty: it does not
  std::optional<VideoRenderer> renderer_{};
};

}  // namespace

std::string device_of_segments(const std::vector<std::string>& records) {
  std::string device;
  for (const std::string& record : records) {
    const nlohmann::json object = nlohmann::json::parse(record, nullptr, false);
    if (!object.is_object()) continue;
    const auto said = object.find(k_segment_device);
    device = said != object.end() && said->is_string() ? said->get<std::string>() : k_cpu;
    if (device == k_cpu) break;
  }
  return device;
}

InferOptions on_the_cpu(InferOptions options) {
  options.device = k_cpu;
  options.placement.decoder_device = "auto";
  options.faces.reset();
  if (options.precision == "fp16") options.precision = "auto";
  return options;
}

VideoRenderer with_cpu_behind(RenderersByDevice renderers) {
  const auto both = std::make_shared<CpuBehind>(std::move(renderers));
  return {.open = [both](const InferOptions& one) { both->current().open(one); },
          .speech_s = [both](const InferOptions& one) { return both->current().speech_s(one); },
          .load = [both] { both->load(); },
          .device = [both] { return both->current().device(); },
          .render = [both](const InferOptions& one,
                           const VideoRenderer::Steps& steps) { return both->render(one, steps); }};
}

}  // namespace navtalk::cmd
