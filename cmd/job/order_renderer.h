// The orders of a worker, one after the other, with one model: what `navtalk job render` does. Events are printed as they happen
// (server/protocol/job_frame.h).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "cmd/context.h"
#include "cmd/infer/video_renderer.h"
#include "cmd/job/work_pulse.h"
#include "core/base/error.h"
#include "core/process/work_readings.h"
#include "server/protocol/job_order.h"

namespace navtalk::cmd {

// One thread, which makes it, apart from tell_waiting().
class OrderRenderer {
 public:
  // Nets of its own, on the device that `how` names or on the CPU. One at a time.
  using Make = std::function<VideoRenderer(const InferOptions& how)>;

  // `look_every`: how often the worker hears of work without pictures, such as loading a model, if it gets on.
  OrderRenderer(const InferOptions& how, Make make, Context& context,
                std::chrono::nanoseconds look_every = std::chrono::seconds(1));

  // Sessions go first, or work without pictures gets on: nothing was drawn for a second. On any thread.
  void tell_waiting();

  // Tells the worker how it went. Throws where no other order can be rendered here: DeviceLost, which is told as well, and a stop.
  void render(const server::JobOrder& order);

 private:
  struct Progress {
    std::int64_t done = 0, of = 0;  // frames
  };

  void obey(const server::JobOrder& order);
  VideoRenderer& renderer();
  InferOptions read_order(const server::JobOrder& order);
  InferOptions options_of(const server::JobOrder& order);
  double speech_s(const InferOptions& options);
  FinishedVideo rendered(const InferOptions& options, const VideoRenderer::Steps& steps);
  VideoRenderer::Steps steps_of(const server::JobOrder& order);
  void tell_progress(Progress progress);
  void repeat_progress();
  std::int64_t frames();
  void tell_failed(std::string_view code, const std::string& message);
  void tell(const nlohmann::ordered_json& event);
  void print(const nlohmann::ordered_json& event);

  const InferOptions& how_;
  const Make make_;
  Context& context_;
  std::optional<VideoRenderer> renderer_{};
  std::chrono::steady_clock::time_point prepared_at_{};
  std::mutex telling_{};  // what follows, and the output
  Progress progress_{};
  std::chrono::steady_clock::time_point told_at_{};
  WorkPulse pulse_;  // from the order to the first picture, and behind the last one
};

}  // namespace navtalk::cmd
