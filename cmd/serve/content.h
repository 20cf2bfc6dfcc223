// What a gateway or a worker gives other machines from its cache of models. Private to cmd/serve.
#pragma once

#include <memory>

#include "cmd/context.h"
#include "server/content/content_server.h"

namespace navtalk::cmd {

// nullptr when models.listen is empty, or another process has the address: of several workers on one
// host, which share a cache, one serves it. Errors of ContentServer for wrong options.
std::unique_ptr<server::ContentServer> serve_content(const Context& context);

}  // namespace navtalk::cmd
