#include "server/gateway/local_only.h"

#include "server/http/same_machine.h"

namespace navtalk::server {
namespace {

bool says_json(const Request& request) {
  const std::string type = request.header("content-type").value_or("");
  return type.substr(0, type.find_first_of("; ")) == "application/json";
}

}  // namespace

std::optional<Response> refuse_foreign(const Request& request) {
  const auto host = request.header("host");
  const auto origin = request.header("origin");
  if ((host && !is_this_machine(*host)) || (origin && !is_page_of_this_machine(*origin))) {
    return error_response(403, "forbidden", "only programs and pages of this machine are served");
  }
  // A page may send forms and plain text anywhere without asking; JSON it may not.
  if (request.has_body && !says_json(request)) {
    return error_response(415, "usage", "a body needs the header Content-Type: application/json");
  }
  return std::nullopt;
}

}  // namespace navtalk::server
