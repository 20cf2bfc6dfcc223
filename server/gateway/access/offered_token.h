// Where a page puts its browser token, since it cannot set headers of a WebSocket's request: into a
// subprotocol, or into the URL. Pure.
#pragma once

#include <optional>
#include <string>

#include "server/http/message.h"

namespace navtalk::server {

struct OfferedToken {
  std::string text{};
  std::string protocol{};  // the subprotocol to answer with; "": it came in the URL
};

// `navtalk.token.TOKEN` among the subprotocols, else `?token=TOKEN`.
std::optional<OfferedToken> offered_token(const Request& request);

}  // namespace navtalk::server
