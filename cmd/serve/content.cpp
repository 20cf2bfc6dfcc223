#include "cmd/serve/content.h"

#include "cmd/artifacts/model_store.h"
#include "core/base/error.h"
#include "core/log/log.h"

namespace navtalk::cmd {

std::unique_ptr<server::ContentServer> serve_content(const Context& context) {
  const auto& models = context.config.models;
  if (models.listen.empty()) return nullptr;
  try {
    auto server = std::make_unique<server::ContentServer>(
        server::ContentServerOptions{.listen = models.listen,
                                     .token = peer_token(context.config),
                                     .fetch = fetch_options(context, {})});
    log::info("content of the cache is served", {{"url", server->url()}});
    return server;
  } catch (const Error& error) {
    if (error.code() != Code::failed) throw error.within("models.listen");
    log::warn("content of the cache is not served by this process", {{"error", error.message()}});
    return nullptr;
  }
}

}  // namespace navtalk::cmd
