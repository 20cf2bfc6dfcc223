// One attempt to open a session on the worker of a lease, and whose fault it is when it fails. The
// client can leave at any moment of it; that says nothing about the worker.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/net/url.h"
#include "core/text/printable.h"
#include "scheduler/health/worker_health.h"
#include "server/gateway/gateway_state.h"
#include "server/protocol/control_frame.h"

namespace navtalk::server {
namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

constexpr auto k_worker_silence = 20s;

// Behind the path of the worker's base URL, where a proxy gave it one.
std::string session_target(const std::string& base, const Lease& lease) {
  const std::string prefix = base.ends_with('/') ? base.substr(0, base.size() - 1) : base;
  return prefix + "/v1/session?lease=" + lease.id.text + "&epoch=" + std::to_string(lease.epoch) +
         "&slot=" + std::to_string(lease.slot);
}

WebSocket::Address address_of(const Lease& lease, const std::string& worker_token) {
  const HttpUrl url = parse_http_url(lease.url);
  WebSocket::Address address;
  address.host = url.host;
  address.port = std::to_string(url.port);
  address.tls = url.secure;
  address.target = session_target(url.path, lease);
  address.headers.emplace_back("X-Navtalk-Protocol", "1");
  if (!worker_token.empty())
    address.headers.emplace_back("Authorization", "Bearer " + worker_token);
  return address;
}

std::string text_of(const nlohmann::json& frame, const char* member) {
  const auto found = frame.find(member);
  return found != frame.end() && found->is_string() ? found->get<std::string>() : "";
}

// The worker's own words; a proxy's answer has none that are worth keeping.
std::string declined_words(const WebSocket::Declined& declined) {
  if (declined.status == 0) return declined.message;
  const std::string status = "HTTP " + std::to_string(declined.status);
  const std::optional<std::string> words = worker_error(declined.message);
  return words ? *words + " (" + status + ")" : "no worker's answer (" + status + ")";
}

// By name, since what is behind it may be newer than this gateway.
bool fences(const std::string& code) { return code == "stale_epoch" || code == "superseded"; }

Opening blamed(const WebSocket::Declined& declined) {
  const std::string words = declined_words(declined);
  if (fences(worker_error_code(declined.message).value_or(""))) return Fenced{words};
  return WorkerFailed{.why = "the worker declined a session: " + words};
}

// A worker's error before session.ready. These three are about what the client asked for; any
// other, one of tomorrow included, is the worker's own.
Opening blamed(Frame frame) {
  const nlohmann::json error = parse_control(frame.bytes).value();
  const std::string code = text_of(error, "code");
  if (code == "usage" || code == "not_found" || code == "invalid")
    return ClientRefused{std::move(frame)};
  if (fences(code)) return Fenced{code + ": " + printable_start(text_of(error, "message"), 500)};
  return WorkerFailed{.why = "the worker could not start a session: " + code + ": " +
                             printable_start(text_of(error, "message"), 500),
                      .starting = true};
}

}  // namespace

asio::awaitable<Opening> Gateway::State::open_on_worker(LiveSession& session) {
  std::optional<WebSocket::Address> address;
  std::string fault;
  try {
    address = address_of(*session.lease, options.worker_token);
  } catch (const Error& error) {
    fault = error.message();
  }
  if (!address) co_return WorkerFailed{.why = "the worker's URL is no good: " + fault};
  SocketLimits limits;
  limits.handshake = options.connect_within;
  limits.silence = k_worker_silence;
  WebSocket::Declined declined;
  session.worker = co_await WebSocket::connect(*address, limits, declined);
  if (!session.worker) co_return blamed(declined);
  session.worker->on_activity([&session] { session.signal.ring(); });
  Frame start;
  start.bytes = session.start;
  co_await session.worker->send(std::move(start));
  co_return co_await await_ready(session);
}

asio::awaitable<Opening> Gateway::State::await_ready(LiveSession& session) {
  const auto until = Clock::now() + options.ready_within;
  for (;;) {
    // The client first: what the worker says to one who is gone does not matter.
    if (session.client_left()) co_return ClientLeft{};
    if (stopping) co_return GatewayStops{};
    if (session.lease_lost) co_return LeaseGone{};
    if (std::optional<Frame> frame = session.worker->poll()) {
      const std::string type = frame->text ? type_of(frame->bytes) : "";
      if (type == "error") co_return blamed(std::move(*frame));
      session.client.offer(std::move(*frame));
      if (type != "session.ready") continue;
      count_ready(session);
      co_return Ready{};
    }
    if (!session.worker->open())
      co_return WorkerFailed{.why = "the worker ended the session before it was ready",
                             .starting = true};
    if (Clock::now() >= until)
      co_return WorkerFailed{.why = "the worker did not get a session ready in time",
                             .starting = true};
    co_await session.signal.wait(until);
  }
}

void Gateway::State::count_ready(const LiveSession& session) {
  ++counts.sessions;
  const double waited = std::chrono::duration<double>(Clock::now() - session.arrived).count();
  const auto* const bound = std::lower_bound(k_wait_bounds.begin(), k_wait_bounds.end(), waited);
  counts.waits.at(static_cast<std::size_t>(bound - k_wait_bounds.begin())) += 1;
  counts.waits_sum += waited;
}

}  // namespace navtalk::server
