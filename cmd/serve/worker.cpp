// navtalk serve --worker: one GPU's worker, until it is told to stop.
#include <cstdlib>
#include <exception>
#include <nlohmann/json.hpp>

#include "avatars/bundle/library.h"
#include "cmd/artifacts/model_store.h"
#include "cmd/defaults.h"
#include "cmd/failure.h"
#include "cmd/render_module/media_limits.h"
#include "cmd/render_module/render_module.h"
#include "cmd/serve/content.h"
#include "cmd/serve/serve.h"
#include "core/base/device_lost.h"
#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "core/log/log.h"
#include "runpod/own_pod.h"
#include "scheduler/health/worker_token.h"
#include "server/worker/render_engine.h"
#include "server/worker/worker.h"

namespace navtalk::cmd {
namespace {

using AvatarFetcher =
    std::function<std::filesystem::path(const std::string& id, const Progress& progress)>;

constexpr const char* k_listen = "127.0.0.1:0";

std::chrono::milliseconds milliseconds(double seconds) {
  return std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
}

// The only avatar of the demo when none is named: a worker always has one ready.
std::string first_avatar(const ServeOptions& options, const Context& context) {
  if (!options.avatar.empty()) return options.avatar;
  for (const auto& library : avatar_libraries(context)) {
    for (const ListedAvatar& avatar : list_avatars(library)) {
      if (avatar.info) return avatar.info->id;
    }
  }
  return "";
}

// No gateway wants this worker any more. In a pod of the pool's own making the pod goes too, since
// it costs money for as long as it is there.
void leave_pod(const std::stop_token& stop) {
  const auto pod = runpod::own_pod();
  if (!pod || !runpod::idle_shutdown_after()) return;
  log::warn("no gateway has spoken to this worker: its pod deletes itself", {{"pod", pod->id}});
  if (!runpod::remove_own_pod(*pod, stop)) {
    throw Error(Code::failed, "the pod " + pod->id + " cannot delete itself and goes on costing");
  }
}

// An avatar that was prepared with other models needs minutes to be encoded anew: too long for a
// start that somebody waits for. The demo's avatar goes with the demo's models.
bool demo_models(const ServeOptions& options, const Context& context) {
  return options.models.empty() && context.config.models.path.empty();
}

// Empty: no model store is configured.
AvatarFetcher avatar_fetcher(const Context& context) {
  if (!has_model_sources(context)) return {};
  return [&context](const std::string& id, const Progress& progress) {
    return fetched_folder(ArtifactKind::avatar, id, context, progress);
  };
}

// Whoever started this process reads from here where it listens. A gateway that was killed
// meanwhile reads nothing; the next one finds this worker by itself.
void print_address(const std::string& url, Context& context) {
  try {
    context.out.json({{"url", url}});
    context.out.flush();
  } catch (const Error& error) {
    log::warn("cannot print the address of this worker", {{"url", url}, {"error", error.what()}});
  }
}

// The same model, with the configuration that this process has.
std::vector<std::string> job_renderer(const ServeOptions& options, const Context& context) {
  std::vector<std::string> command = {std::filesystem::read_symlink("/proc/self/exe").native(),
                                      "--log-level", context.config.log.level};
  if (context.config_option) {
    command.insert(command.end(),
                   {"--config", std::filesystem::absolute(*context.config_option).native()});
  }
  command.insert(
      command.end(),
      {"job", "render", "--models", models_directory(options.models, context).native(), "--device",
       options.device, "--precision", options.precision, "--threads",
       std::to_string(options.threads), "--decoder-device", options.placement.decoder_device,
       "--weight-format", options.placement.weight_format});
  if (options.placement.no_graphs) command.emplace_back("--no-graphs");
  return command;
}

// What a renderer needs at first sight: the nets in that folder, some of them twice, and what every process of libtorch has.
std::uint64_t first_peak(const std::filesystem::path& nets) {
  constexpr std::uint64_t k_process = 768ULL << 20;
  std::uint64_t files = 0;
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator at(nets, error), end; !error && at != end;
       at.increment(error)) {
    std::error_code gone;
    const std::uint64_t size = at->is_regular_file(gone) ? at->file_size(gone) : 0;
    if (!gone) files += size;
  }
  return files + files / 2 + k_process;
}

}  // namespace

int serve_worker(const ServeOptions& options, Context& context) {
  // Before this worker fetches its model: others get it while it comes.
  const auto content = serve_content(context);
  server::Worker worker(
      {.listen = options.listen.value_or(k_listen),
       .token = worker_token(options.token_file),
       .version = NAVTALK_VERSION,
       .avatar = first_avatar(options, context),
       .load_avatar = !options.avatar.empty() || demo_models(options, context),
       .slots = options.slots,
       .gateway_timeout = milliseconds(options.gateway_silence_s),
       .first_contact = milliseconds(options.first_contact_s),
       .stop_notice = milliseconds(options.drain_s),
       .renderers = {.command = job_renderer(options, context),
                     .first_peak = first_peak(models_directory(options.models, context)),
                     .first_sharing_peak =
                         first_peak(models_directory(options.models, context) / "whisper")}},
      render_module().render_engine({.models = models_directory(options.models, context),
                                     .avatars = avatar_libraries(context),
                                     .fetch_avatar = avatar_fetcher(context),
                                     .device = options.device,
                                     .decoder_device = options.placement.decoder_device,
                                     .graphs = !options.placement.no_graphs,
                                     .precision = options.precision,
                                     .weight_format = options.placement.weight_format,
                                     .video_encoder = options.video_encoder,
                                     .threads = options.threads,
                                     .limits = media_limits(context)}));
  print_address(worker.url(), context);
  try {
    worker.run(context.stop);
  } catch (const DeviceLost&) {
    end_without_device({.json = context.json}, context.out);
  }
  if (const int status = stop_status(context.stop)) return status;
  leave_pod(context.stop);
  return 0;
}

}  // namespace navtalk::cmd
