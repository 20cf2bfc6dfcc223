#include "cmd/job/order_renderer.h"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>

#include "avatars/bundle/avatar_id.h"
#include "cmd/defaults.h"
#include "cmd/job/cells.h"
#include "cmd/job/renderer_on_cpu.h"
#include "core/base/device_lost.h"
#include "core/base/out_of_memory.h"
#include "core/speech/voices.h"
#include "server/protocol/job_frame.h"

namespace navtalk::cmd {
namespace {

using server::JobOrder;

constexpr auto k_progress_every = std::chrono::seconds(1);

// The job is at fault, and would be on every machine. Whatever else fails is this machine's: a model or an avatar that is
// missing here, a GPU that is gone.
Error refused(const Error& error) { return {Code::invalid, error.message()}; }
bool is_stop(const Error& error) {
  return error.code() == Code::interrupted || error.code() == Code::terminated;
}

// Work that does not depend on the job: its errors are this machine's, and refuse no job.
template <class Work>
void ours(const Work& work) {
  try {
    work();
  } catch (const DeviceLost&) {
    throw;
  } catch (const Error& error) {
    if (is_stop(error)) throw;
    throw Error(Code::failed, error.message());
  }
}

// So that whatever ends this process, no more than one segment was rendered in vain.
void wait_recorded(int segment) {
  for (std::string line; std::getline(std::cin, line);) {
    if (server::parse_recorded_line(line) == segment) return;
  }
  throw Error(Code::terminated, "the worker has ended");
}

}  // namespace

OrderRenderer::OrderRenderer(const InferOptions& how, Make make, Context& context,
                             std::chrono::nanoseconds look_every)
    : how_(how),
      make_(std::move(make)),
      context_(context),
      pulse_({.read = [meter = WorkMeter()] { return meter.read(); },
              .tell = [this] { tell_waiting(); },
              .look_every = look_every}) {}

void OrderRenderer::tell_waiting() {
  const std::lock_guard lock(telling_);
  repeat_progress();
}

void OrderRenderer::render(const JobOrder& order) {
  {
    const std::lock_guard lock(telling_);
    progress_ = {};
  }
  pulse_.begin();
  const auto rest = [](WorkPulse* pulse) { pulse->rest(); };
  const std::unique_ptr<WorkPulse, decltype(rest)> until_over(&pulse_, rest);
  obey(order);
}

void OrderRenderer::obey(const JobOrder& order) {
  try {
    const InferOptions options = read_order(order);
    pulse_.begin();
    ours([&] { renderer().load(); });
    pulse_.begin();
    const FinishedVideo video = rendered(options, steps_of(order));
    const std::chrono::duration<double> rendering = std::chrono::steady_clock::now() - prepared_at_;
    tell({{"event", "done"},
          {"frames", video.frames},
          {"rendered", video.rendered},
          {"duration_s", video.duration_s},
          {"rendering_s", rendering.count()}});
  } catch (const OutOfMemory& error) {
    tell_failed(server::k_no_memory, error.message());
  } catch (const DeviceLost& error) {
    tell_failed(name(Code::failed), error.message());
    throw;
  } catch (const Error& error) {
    if (is_stop(error)) throw;
    tell_failed(name(error.code()), error.message());
  } catch (const std::bad_alloc&) {
    tell_failed(name(Code::failed), "memory: the job needs more than this machine has");
  } catch (const std::exception& error) {
    tell_failed(name(Code::failed), error.what());
  }
}

VideoRenderer& OrderRenderer::renderer() {
  if (renderer_) return *renderer_;
  const auto on_cpu = [this](const std::string& why) {
    tell({{"event", "on_cpu"}, {"message", why}});
  };
  const auto make = [this](bool cpu) { return make_(cpu ? on_the_cpu(how_) : how_); };
  renderer_ = with_cpu_behind({.make = make, .on_cpu = on_cpu});
  return *renderer_;
}

InferOptions OrderRenderer::read_order(const JobOrder& order) {
  InferOptions options = options_of(order);
  ours([&] { renderer().open(options); });
  tell({{"event", "measured"}, {"duration_s", speech_s(options)}});
  return options;
}

InferOptions OrderRenderer::options_of(const JobOrder& order) {
  if (!valid_avatar_id(order.avatar))
    throw Error(Code::invalid, "'" + order.avatar + "' is not a valid avatar id");
  Cells cells(order.options.begin(), order.options.end());
  ours([&] { cells["avatar"] = avatar_directory(order.avatar, context_).native(); });
  if (!order.voice.empty()) cells["voice"] = order.voice;
  cells[order.text.empty() ? "audio" : "text"] =
      order.text.empty() ? order.audio.native() : order.text;
  cells["output"] = order.output.native();
  InferOptions options = how_;
  try {
    apply_cells(cells, options);
    check_infer_options(options, context_);
  } catch (const Error& error) {
    if (is_stop(error)) throw;
    if (error.code() == Code::not_found) throw Error(Code::failed, error.message());
    throw refused(error);
  }
  return options;
}

// A voice that is unknown is the job's fault, and espeak-ng that is missing is not; both are not found.
double OrderRenderer::speech_s(const InferOptions& options) {
  try {
    return renderer().speech_s(options);
  } catch (const Error& error) {
    if (error.code() == Code::not_found && !options.text.empty()) {
      ours([&] { list_voices(context_.stop); });
      throw refused(error);
    }
    if (error.code() == Code::usage) throw refused(error);
    if (error.code() == Code::not_found) throw Error(Code::failed, error.message());
    throw;
  }
}

// Its speech is known to be good, so that only what was asked of its output can be refused.
FinishedVideo OrderRenderer::rendered(const InferOptions& options,
                                      const VideoRenderer::Steps& steps) {
  try {
    return renderer().render(options, steps);
  } catch (const OutOfMemory&) {
    throw;
  } catch (const DeviceLost&) {
    throw;
  } catch (const Error& error) {
    if (is_stop(error)) throw;
    if (error.code() == Code::usage) throw refused(error);
    throw Error(Code::failed, error.message());
  }
}

VideoRenderer::Steps OrderRenderer::steps_of(const JobOrder& order) {
  const auto progress = [this](std::int64_t done, std::int64_t of) {
    // Behind the last picture the video is made whole, which has no steps.
    if (done < of) {
      pulse_.rest();
    } else {
      pulse_.begin();
    }
    tell_progress({done, of});
  };
  const auto finished = [this, waits = order.waits](const FinishedSegment& segment) {
    tell({{"event", "segment"},
          {"index", segment.index},
          {"duration_s", segment.duration_s},
          {"record", segment.record}});
    if (waits) wait_recorded(segment.index);
  };
  return {.prepared = [this] { prepared_at_ = std::chrono::steady_clock::now(); },
          .progress = progress,
          .segments = SegmentWork{.folder = order.segment_folder,
                                  .records = order.segment_records,
                                  .finished = finished,
                                  .joining =
                                      [this] {
                                        const std::int64_t all =
                                            std::max<std::int64_t>(1, frames());
                                        pulse_.begin();
                                        tell_progress({all, all});
                                      },
                                  .storing = [this] { tell_waiting(); }},
          .before_commit = {}};
}

// Who hears nothing for long takes this process for stuck.
void OrderRenderer::tell_progress(Progress progress) {
  const std::lock_guard lock(telling_);
  progress_ = progress;
  repeat_progress();
}

void OrderRenderer::repeat_progress() {
  const auto now = std::chrono::steady_clock::now();
  if (now - told_at_ < k_progress_every) return;
  told_at_ = now;
  print({{"event", "progress"}, {"done", progress_.done}, {"of", progress_.of}});
}

std::int64_t OrderRenderer::frames() {
  const std::lock_guard lock(telling_);
  return progress_.of;
}

void OrderRenderer::tell_failed(std::string_view code, const std::string& message) {
  tell({{"event", "failed"}, {"code", code}, {"message", message}});
}

void OrderRenderer::tell(const nlohmann::ordered_json& event) {
  const std::lock_guard lock(telling_);
  print(event);
}

void OrderRenderer::print(const nlohmann::ordered_json& event) {
  context_.out.json(event);
  context_.out.flush();
}

}  // namespace navtalk::cmd
