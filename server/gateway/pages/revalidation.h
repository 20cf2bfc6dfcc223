// Does a browser have this version already? Pure.
#pragma once

#include <string_view>

#include "server/http/message.h"

namespace navtalk::server {

// If-None-Match of the request names `etag` (with its quotes), or any.
inline bool is_current(const Request& request, std::string_view etag) {
  const std::string known = request.header("if-none-match").value_or("");
  return known == "*" || known.find(etag) != std::string::npos;
}

}  // namespace navtalk::server
