#include "server/gateway/session/slot_address.h"

#include <fmt/format.h>

#include <optional>

#include "core/net/url.h"
#include "scheduler/health/worker_health.h"
#include "scheduler/health/worker_protocol.h"

namespace navtalk::server {

WebSocket::Address slot_address(const Lease& lease, const WorkerTokens& tokens,
                                std::string_view path) {
  const HttpUrl url = parse_http_url(lease.url);
  // Behind the path of the worker's base URL, where a proxy gave it one.
  const std::string prefix =
      url.path.ends_with('/') ? url.path.substr(0, url.path.size() - 1) : url.path;
  return {.host = url.host,
          .port = std::to_string(url.port),
          .target = fmt::format("{}{}?lease={}&epoch={}&slot={}", prefix, path, lease.id.text,
                                lease.epoch, lease.slot),
          .headers = worker_request_headers(tokens.of(lease)),
          .tls = url.secure};
}

std::string words_of(const WebSocket::Declined& declined) {
  if (declined.status == 0) return declined.message;
  const std::string status = "HTTP " + std::to_string(declined.status);
  const std::optional<std::string> words = worker_error(declined.message);
  return words ? *words + " (" + status + ")" : "not a worker's answer (" + status + ")";
}

}  // namespace navtalk::server
