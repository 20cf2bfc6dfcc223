// navtalk job render: what a worker starts to have jobs rendered in a process of their own, which may be ended
// at any moment. Orders come on standard input, a line each, and so does which segments are recorded; events
// leave on standard output.
#include <CLI/CLI.hpp>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>

#include "cmd/artifacts/model_store.h"
#include "cmd/commands.h"
#include "cmd/failure.h"
#include "cmd/infer/video_renderer.h"
#include "cmd/job/order_renderer.h"
#include "cmd/render_module/render_module.h"
#include "core/base/device_lost.h"
#include "core/base/interrupt.h"
#include "core/log/log.h"
#include "core/process/confine.h"
#include "core/process/priority.h"
#include "server/protocol/job_order.h"
#include "server/worker/job/face_client.h"

namespace navtalk::cmd {
namespace {

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
  const auto unfiltered =
      confine({.calls = SystemCalls::of_renderer,
               .sockets = needed_sockets(how, context),
               .filter_required = false,
               .give_up_root = false});  // its user has the models, and the folder of its segments
  if (unfiltered)
    log::warn("jobs are rendered without a filter of system calls", {{"reason", *unfiltered}});
}

int render(InferOptions how, int faces, Context& context) {
  give_up(how, context);
  // The worker hears of it in events.
  context.progress = [](std::string_view, std::size_t, std::size_t) {};
  const auto make = [&context](const InferOptions& options) {
    return render_module().video_renderer(options, context);
  };
  OrderRenderer renderer(how, make, context);
  if (faces >= 0) {
    how.faces = std::make_shared<server::FaceClient>(UniqueFd(faces),
                                                     [&renderer] { renderer.tell_waiting(); });
  }
  try {
    std::string line;
    while (std::getline(std::cin, line)) {
      throw_if_stopped(context.stop);
      renderer.render(server::parse_job_order(line));
    }
  } catch (const DeviceLost&) {
    // The worker starts another process for its next job.
    end_without_device({.colour = context.colour}, context.out);
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
