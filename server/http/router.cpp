#include "server/http/router.h"

#include <algorithm>

#include "core/base/check.h"
#include "core/log/log.h"
#include "core/text/number.h"

namespace navtalk::server {
namespace asio = boost::asio;

namespace {

constexpr std::uint64_t k_short_body = 1 << 20;  // bytes, as every route takes them

std::vector<std::string> split(std::string_view path) {
  std::vector<std::string> parts;
  while (!path.empty()) {
    path.remove_prefix(1);  // the slash
    const std::size_t end = std::min(path.find('/'), path.size());
    parts.emplace_back(path.substr(0, end));
    path.remove_prefix(end);
  }
  return parts;
}

bool is_capture(const std::string& part) { return part.size() > 2 && part.front() == '{'; }

// What the library would refuse without the form that errors have here (RFC 6455, 4.2.1 and 4.4).
std::optional<Response> refuse_handshake(const Request& request) {
  constexpr std::size_t k_longest_key = 24;  // 16 bytes in base64
  if (request.header("sec-websocket-version") != "13") {
    Response refusal = error_response(426, "usage", "this server speaks version 13 of WebSocket");
    refusal.headers.emplace_back("Upgrade", "websocket");
    refusal.headers.emplace_back("Sec-WebSocket-Version", "13");
    return refusal;
  }
  const std::size_t key = request.header("sec-websocket-key").value_or("").size();
  if (key == 0 || key > k_longest_key)
    return error_response(400, "usage", "the request's Sec-WebSocket-Key is malformed");
  return std::nullopt;
}

Response later(int status, const char* code, const char* why) {
  Response refusal = error_response(status, code, why);
  refusal.headers.emplace_back("Retry-After", "5");
  return refusal;
}

asio::awaitable<std::optional<Response>> take_room(const LongBodies& bodies, Request& request) {
  const std::string text = request.header("content-length").value_or("");
  const auto bytes = parse_number<std::uint64_t>(text);
  if (!request.has_body) co_return std::nullopt;
  if (bytes.value_or(0) == 0)
    co_return error_response(411, "usage", request.path + " needs the header Content-Length");
  if (*bytes > bodies.bytes)
    co_return error_response(
        413, "usage", request.path + " takes at most " + std::to_string(bodies.bytes) + " bytes");
  request.body_limit = bodies.bytes;
  if (*bytes <= k_short_body) co_return std::nullopt;
  const std::variant<std::string, Response> owner = co_await bodies.owner(request);
  if (const auto* refusal = std::get_if<Response>(&owner)) co_return *refusal;
  const auto& name = std::get<std::string>(owner);
  request.body_room = bodies.room->take(name, *bytes);
  if (request.body_room) co_return std::nullopt;
  if (!bodies.room->allows(name, *bytes))
    co_return later(429, "tenant_limit", "you upload as much as you may at once; try again later");
  co_return later(503, "no_capacity", "too much is being uploaded; try again later");
}

bool fits(const std::vector<std::string>& pattern, const std::vector<std::string>& path,
          NamedValues& captures) {
  if (pattern.size() != path.size()) return false;
  captures.clear();
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (is_capture(pattern[i]) && !path[i].empty()) {
      captures.emplace_back(pattern[i].substr(1, pattern[i].size() - 2), path[i]);
    } else if (pattern[i] != path[i]) {
      return false;
    }
  }
  return true;
}

}  // namespace

void Router::guard(Guard guard) { guards_.push_back(std::move(guard)); }

void Router::on(std::string method, std::string pattern, Handler handler) {
  routes_.push_back({std::move(method), split(pattern), std::move(handler), {}});
}

void Router::take_long_bodies(const std::string& method, const std::string& pattern,
                              const LongBodies& bodies) {
  const std::vector<std::string> parts = split(pattern);
  longest_body_ = std::max(longest_body_, bodies.bytes);
  for (Route& route : routes_) {
    if (route.method == method && route.parts == parts) route.bodies = bodies;
  }
}

void Router::on_socket(std::string pattern, SocketHandler handler) {
  routes_.push_back({"GET", split(pattern), {}, std::move(handler)});
}

void Router::header(std::string name, std::string value) {
  headers_.emplace_back(std::move(name), std::move(value));
}

void Router::finish(std::function<void(const Request&, Response&)> finish) {
  finishers_.push_back(std::move(finish));
}

const Router::Route* Router::find(Request& request, std::string& allowed) const {
  const std::vector<std::string> path = split(request.path);
  NamedValues captures;
  for (const Route& route : routes_) {
    if (!fits(route.parts, path, captures)) continue;
    // As GET; the server leaves the body out.
    const bool head = request.method == "HEAD" && route.method == "GET" && route.handler;
    if (route.method == request.method || head) {
      request.captures = std::move(captures);
      return &route;
    }
    allowed += (allowed.empty() ? "" : ", ") + route.method;
    if (route.method == "GET" && route.handler) allowed += ", HEAD";
  }
  return nullptr;
}

asio::awaitable<std::optional<Response>> Router::check(Request& request) const {
  for (const Guard& guard : guards_) {
    std::optional<Response> refusal = co_await guard(request);
    if (refusal) co_return refusal;
  }
  std::string allowed;
  const Route* route = find(request, allowed);
  if (route == nullptr && allowed.empty())
    co_return error_response(404, "not_found", "there is no " + request.path);
  if (route == nullptr) {
    Response refusal = error_response(
        405, "usage", request.path + " takes " + allowed + ", not " + request.method);
    refusal.headers.emplace_back("Allow", allowed);
    co_return refusal;
  }
  if (route->socket && !request.upgrade) {
    Response refusal =
        error_response(426, "usage", request.path + " is a WebSocket: ask to upgrade");
    refusal.headers.emplace_back("Upgrade", "websocket");
    co_return refusal;
  }
  if (route->socket) co_return refuse_handshake(request);
  if (route->bodies.room) co_return co_await take_room(route->bodies, request);
  co_return std::nullopt;
}

asio::awaitable<std::optional<Response>> Router::dispatch(Request& request,
                                                          Upgrade& upgrade) const {
  std::string allowed;
  const Route* route = find(request, allowed);
  NAVTALK_CHECK(route != nullptr);  // refuse() comes first
  if (route->handler) {
    Response answer = co_await route->handler(request);
    co_return answer;
  }
  std::optional<Response> answer = co_await route->socket(request, upgrade);
  co_return answer;
}

asio::awaitable<std::optional<Response>> Router::answered(
    const Request& request, asio::awaitable<std::optional<Response>> work) const {
  std::optional<Response> answer;
  try {
    answer = co_await std::move(work);
  } catch (const Error& error) {
    answer = error_response(error);
  } catch (const std::exception& problem) {
    log::error("a request failed", {{"path", request.path}, {"error", problem.what()}});
    answer = error_response(500, "failed", "internal error; the log says more");
  }
  if (answer) {
    answer->headers.insert(answer->headers.end(), headers_.begin(), headers_.end());
    for (const auto& finish : finishers_) finish(request, *answer);
  }
  co_return answer;
}

asio::awaitable<std::optional<Response>> Router::refuse(Request& request) const {
  return answered(request, check(request));
}

asio::awaitable<std::optional<Response>> Router::answer(Request& request, Upgrade& upgrade) const {
  std::optional<Response> answer = co_await answered(request, dispatch(request, upgrade));
  if (upgrade.accepted()) co_return std::nullopt;
  co_return answer;
}

}  // namespace navtalk::server
