// navtalk job render: what a worker starts to have jobs rendered in a process of their own, which may be ended
// at any moment. Orders come on standard input, a line each, and so does which segments are recorded; events
// leave on standard output.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <memory>
#include <mutex>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "avatars/bundle/avatar_id.h"
#include "cmd/artifacts/model_store.h"
#include "cmd/commands.h"
#include "cmd/defaults.h"
#include "cmd/infer/video_renderer.h"
#include "cmd/job/cells.h"
#include "cmd/job/renderer_on_cpu.h"
#include "cmd/render_module/render_module.h"
#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "core/base/out_of_memory.h"
#include "core/process/confine.h"
#include "core/process/priority.h"
#include "core/speech/voices.h"
#include "server/protocol/job_frame.h"
#include "server/protocol/job_order.h"
#include "server/worker/job/face_client.h"

namespace navtalk::cmd {
namespace {

using Json = nlohmann::ordered_json;
using server::JobOrder;

constexpr auto k_progress_every = std::chrono::seconds(1);

// Avatars that are missing here come from a model store. On a GPU the driver may ask a program of this machine.
Sockets needed_sockets(const InferOptions& how, const Context& context) {
  if (has_model_sources(context)) return Sockets::internet;
  return how.device == "cpu" ? Sockets::none : Sockets::local;
}

// It reads what strangers have sent.
void give_up(const InferOptions& how, const Context& context) {
  // Where the machine's memory is full all the same, the kernel ends this process first.
  std::ofstream("/proc/self/oom_score_adj") << 1000;
  yield_to_others();
  confine({.calls = SystemCalls::of_renderer,
           .sockets = needed_sockets(how, context),
           .give_up_root = false});  // its user has the models, and the folder of its segments
}

// The job is at fault, and would be on every machine. Whatever else fails is this machine's: a model or an avatar that is
// missing here, a GPU that is gone.
Error refused(const Error& error) { return {Code::invalid, error.message()}; }
bool is_stop(const Error& error) {
  return error.code() == Code::interrupted || error.code() == Code::terminated;
}

class Renderer {
 public:
  Renderer(const InferOptions& how, Context& context) : how_(how), context_(context) {}

  // Sessions go first: nothing was drawn for a second. On any thread.
  void tell_waiting() {
    const std::lock_guard lock(telling_);
    repeat_progress();
  }

  void render(const JobOrder& order) {
    try {
      const InferOptions options = read_order(order);
      ours([&] { renderer().load(); });
      const FinishedVideo video = rendered(options, steps_of(order));
      tell({{"event", "done"},
            {"frames", video.frames},
            {"rendered", video.rendered},
            {"duration_s", video.duration_s}});
    } catch (const OutOfMemory& error) {
      tell({{"event", "failed"}, {"code", server::k_no_memory}, {"message", error.message()}});
    } catch (const Error& error) {
      if (is_stop(error)) throw;
      tell({{"event", "failed"}, {"code", name(error.code())}, {"message", error.message()}});
    } catch (const std::bad_alloc&) {
      tell({{"event", "failed"},
            {"code", name(Code::failed)},
            {"message", "memory: the job needs more than this machine has"}});
    }
  }

 private:
  struct Progress {
    std::int64_t done = 0, of = 0;  // frames
  };

  VideoRenderer& renderer() {
    if (!renderer_)
      renderer_ = with_cpu_behind({.make = [this](bool on_cpu) { return made(on_cpu); },
                                   .on_cpu =
                                       [this](const std::string& why) {
                                         tell({{"event", "on_cpu"}, {"message", why}});
                                       }});
    return *renderer_;
  }

  VideoRenderer made(bool on_cpu) {
    return render_module().video_renderer(on_cpu ? on_the_cpu(how_) : how_, context_);
  }

  // Work that does not depend on the job: its errors are this machine's, and refuse no job.
  template <class Work>
  static void ours(const Work& work) {
    try {
      work();
    } catch (const Error& error) {
      if (is_stop(error)) throw;
      throw Error(Code::failed, error.message());
    }
  }

  InferOptions read_order(const JobOrder& order) {
    InferOptions options = options_of(order);
    ours([&] { renderer().open(options); });
    tell({{"event", "measured"}, {"duration_s", speech_s(options)}});
    return options;
  }

  InferOptions options_of(const JobOrder& order) {
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
  double speech_s(const InferOptions& options) {
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
  FinishedVideo rendered(const InferOptions& options, const VideoRenderer::Steps& steps) {
    try {
      return renderer().render(options, steps);
    } catch (const OutOfMemory&) {
      throw;
    } catch (const Error& error) {
      if (is_stop(error)) throw;
      if (error.code() == Code::usage) throw refused(error);
      throw Error(Code::failed, error.message());
    }
  }

  VideoRenderer::Steps steps_of(const JobOrder& order) {
    const auto progress = [this](std::int64_t done, std::int64_t of) { tell_progress({done, of}); };
    const auto finished = [this, waits = order.waits](const FinishedSegment& segment) {
      tell({{"event", "segment"},
            {"index", segment.index},
            {"duration_s", segment.duration_s},
            {"record", segment.record}});
      if (waits) wait_recorded(segment.index);
    };
    return {.progress = progress,
            .segments = SegmentWork{.folder = order.segment_folder,
                                    .records = order.segment_records,
                                    .finished = finished,
                                    .joining =
                                        [this] {
                                          const std::int64_t all =
                                              std::max<std::int64_t>(1, frames());
                                          tell_progress({all, all});
                                        }},
            .before_commit = {}};
  }

  // Who hears nothing for long takes this process for stuck.
  void tell_progress(Progress progress) {
    const std::lock_guard lock(telling_);
    progress_ = progress;
    repeat_progress();
  }

  void repeat_progress() {
    const auto now = std::chrono::steady_clock::now();
    if (now - told_at_ < k_progress_every) return;
    told_at_ = now;
    print({{"event", "progress"}, {"done", progress_.done}, {"of", progress_.of}});
  }

  std::int64_t frames() {
    const std::lock_guard lock(telling_);
    return progress_.of;
  }

  // So that whatever ends this process, no more than one segment was rendered in vain.
  static void wait_recorded(int segment) {
    for (std::string line; std::getline(std::cin, line);) {
      if (server::parse_recorded_line(line) == segment) return;
    }
    throw Error(Code::terminated, "the worker has ended");
  }

  void tell(const Json& event) {
    const std::lock_guard lock(telling_);
    print(event);
  }

  void print(const Json& event) {
    context_.out.json(event);
    context_.out.flush();
  }

  const InferOptions& how_;
  Context& context_;
  std::optional<VideoRenderer> renderer_;
  std::mutex telling_;  // what follows, and the output
  Progress progress_{};
  std::chrono::steady_clock::time_point told_at_{};
};

int render(InferOptions how, int faces, Context& context) {
  give_up(how, context);
  Renderer renderer(how, context);
  if (faces >= 0) {
    how.faces = std::make_shared<server::FaceClient>(UniqueFd(faces),
                                                     [&renderer] { renderer.tell_waiting(); });
  }
  std::string line;
  while (std::getline(std::cin, line)) {
    throw_if_stopped(context.stop);
    renderer.render(server::parse_job_order(line));
  }
  return 0;
}

}  // namespace

void add_job_render(Commands& commands) {
  const auto how = std::make_shared<InferOptions>();
  const auto faces = std::make_shared<int>(-1);
  CLI::App& command = commands.add(
      {.group = Group::job,
       .name = "render",
       .summary = "Render the jobs of a worker, which starts this command",
       .examples = "  navtalk job render --device cpu < orders\n",
       .action = [how, faces](Context& context) { return render(*how, *faces, context); }});
  add_infer_engine_options(command, *how);
  command
      .add_option("--faces", *faces,
                  "Descriptor of a socket on which a worker draws faces, for its own use")
      ->check(CLI::Range(3, 1024))
      ->type_name("FD");
}

}  // namespace navtalk::cmd
