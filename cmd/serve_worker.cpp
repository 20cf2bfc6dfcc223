// navtalk serve --worker: one GPU's worker, until it is told to stop.
#include <nlohmann/json.hpp>

#include "avatars/library.h"
#include "cmd/defaults.h"
#include "cmd/serve.h"
#include "core/error.h"
#include "core/interrupt.h"
#include "server/bearer.h"
#include "server/render_engine.h"
#include "server/worker.h"

namespace navtalk::cmd {
namespace {

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

}  // namespace

int serve_worker(const ServeOptions& options, Context& context) {
  server::Worker worker({.listen = options.listen.value_or(k_listen),
                         .token = server::worker_token(options.token_file),
                         .version = NAVTALK_VERSION,
                         .avatar = first_avatar(options, context),
                         .slots = options.slots,
                         .gateway_silence = milliseconds(options.gateway_silence_s),
                         .first_contact = milliseconds(options.first_contact_s),
                         .stop_notice = milliseconds(options.drain_s)},
                        server::render_engine({.models = models_directory(options.models, context),
                                               .avatars = avatar_libraries(context),
                                               .device = options.device,
                                               .precision = options.precision,
                                               .threads = options.threads}));
  // Whoever started this process reads from here where it listens.
  context.out.json({{"url", worker.url()}});
  context.out.flush();
  worker.run(context.stop);
  throw_if_stopped(context.stop);
  return 0;
}

}  // namespace navtalk::cmd
