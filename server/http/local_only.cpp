#include "server/http/local_only.h"

#include "server/http/same_machine.h"

namespace navtalk::server {
namespace {

bool says_json(const Request& request) {
  const std::string type = request.header("content-type").value_or("");
  return type.substr(0, type.find_first_of("; ")) == "application/json";
}

// A page from elsewhere may send it, too, but not without its Origin, which is judged first.
bool is_job_form(const Request& request) {
  return request.path == "/v1/jobs" &&
         request.header("content-type").value_or("").starts_with("multipart/form-data;");
}

}  // namespace

std::optional<Response> refuse_foreign(const Request& request) {
  const auto host = request.header("host");
  const auto origin = request.header("origin");
  if ((host && !is_this_machine(*host)) || (origin && !is_page_of_this_machine(*origin))) {
    return error_response(403, "forbidden", "only programs and pages of this machine are served");
  }
  return refuse_untyped_body(request);
}

std::optional<Response> refuse_pages(const Request& request) {
  if (!request.header("origin")) return std::nullopt;
  return error_response(403, "forbidden", "pages are not served: the request has an Origin");
}

std::optional<Response> refuse_untyped_body(const Request& request) {
  if (!request.has_body || says_json(request) || is_job_form(request)) return std::nullopt;
  return error_response(415, "usage", "a body needs the header Content-Type: application/json");
}

}  // namespace navtalk::server
