// Which pages may use the gateway, by their Origin, and what their browsers have to be told (CORS).
// Programs send no Origin. Of the I/O thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/http/message.h"

namespace navtalk::server {

// "https://example.org:8443", in lower case and without the scheme's own port; nullopt for what is not
// an origin of http or https. "*" stays: every page.
std::optional<std::string> canonical_origin(std::string_view text);

class Origins {
 public:
  // Error{invalid} names an entry that is not an origin.
  explicit Origins(const std::vector<std::string>& allowed);

  // 403 for a page that is neither of this server (by `Host`), nor allowed, nor of this machine where
  // the server is asked by that name.
  std::optional<Response> refuse(const Request& request) const;
  // The answer to a browser that asks what a page may do; nullopt: it is not such a question.
  static std::optional<Response> preflight(const Request& request);
  // What the browser of an allowed page needs to see the answer.
  void admit(const Request& request, Response& response) const;

 private:
  bool allows(std::string_view origin) const;

  bool all_ = false;
  std::vector<std::string> allowed_{};
};

}  // namespace navtalk::server
