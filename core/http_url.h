// What an HTTP client must know of a URL before it calls. Stateless.
#pragma once

#include <string>

namespace navtalk {

struct HttpUrl {
  bool secure = false;  // https
  std::string host{};   // IPv6 in brackets
  int port = 0;
  std::string path{};  // with the query; at least "/"

  // For messages: what may be shown of any URL, whatever its query holds.
  std::string place() const { return host + ":" + std::to_string(port); }
};

// Error{invalid} for what is no http or https URL, and for one that carries a user or a password:
// it would end up in logs.
HttpUrl parse_http_url(const std::string& url);

}  // namespace navtalk
