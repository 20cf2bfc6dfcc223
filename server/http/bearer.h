// A secret as a request carries it, a worker's token or the operator's key:
// `Authorization: Bearer TOKEN`.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "server/http/message.h"

namespace navtalk::server {

// What stands behind "Bearer "; nullopt without such a field.
std::optional<std::string> bearer(const Request& request);
// Whether the request carries the token; true for an empty token. The time that it takes does not
// depend on where the two differ.
bool has_token(const Request& request, std::string_view token);

}  // namespace navtalk::server
