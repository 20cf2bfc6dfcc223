#include "server/gateway/access/offered_token.h"

#include <algorithm>

#include "core/text/trim.h"

namespace navtalk::server {
namespace {

constexpr std::string_view k_token_protocol = "navtalk.token.";

}  // namespace

std::optional<OfferedToken> offered_token(const Request& request) {
  for (const auto& [name, value] : request.headers) {
    if (name != "sec-websocket-protocol") continue;
    for (std::string_view rest = value; !rest.empty();) {
      const std::size_t comma = std::min(rest.find(','), rest.size());
      const std::string_view one = trim(rest.substr(0, comma));
      rest.remove_prefix(std::min(rest.size(), comma + 1));
      if (one.starts_with(k_token_protocol))
        return OfferedToken{.text = std::string(one.substr(k_token_protocol.size())),
                            .protocol = std::string(one)};
    }
  }
  if (auto token = request.parameter("token")) return OfferedToken{.text = std::move(*token)};
  return std::nullopt;
}

}  // namespace navtalk::server
