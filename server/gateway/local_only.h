// The guard of every request to the gateway. Until there are API keys and browser tokens, whoever is
// on this machine may do everything; a page from elsewhere in a browser here may not.
#pragma once

#include <optional>

#include "server/http/message.h"

namespace navtalk::server {

// The refusal of a request that is not allowed.
std::optional<Response> refuse_foreign(const Request& request);

}  // namespace navtalk::server
