#include "server/gateway/pages/page_routes.h"

#include "server/gateway/pages/page_files.h"
#include "server/gateway/pages/revalidation.h"

namespace navtalk::server {
namespace asio = boost::asio;

namespace {

constexpr const char* k_policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; media-src 'self' "
    "blob:; "
    "connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'";

Response page_response(const Request& request, const PageFile& file) {
  Response response{.content_type = std::string(file.content_type)};
  response.headers = {{"ETag", std::string(file.etag)},
                      {"Cache-Control", "no-cache"},
                      {"Content-Security-Policy", k_policy},
                      {"X-Content-Type-Options", "nosniff"},
                      {"X-Frame-Options", "DENY"},
                      {"Referrer-Policy", "no-referrer"},
                      {"Permissions-Policy", "microphone=(self), camera=(), geolocation=()"}};
  if (is_current(request, file.etag)) {
    response.status = 304;
  } else {
    response.body = file.content;
  }
  return response;
}

}  // namespace

void add_page_routes(Router& router, Pages pages) {
  for (const PageFile& file : page_files()) {
    const auto answer = [&file](const Request& request) -> asio::awaitable<Response> {
      co_return page_response(request, file);
    };
    router.on("GET", "/client/" + std::string(file.name), answer);
    if (file.name == "index.html" && pages != Pages::of_operators) router.on("GET", "/", answer);
    if (file.name == "operator.html" && pages != Pages::of_users)
      router.on("GET", "/operator", answer);
  }
}

}  // namespace navtalk::server
