#include "server/gateway/session/open_on_worker.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/text/printable.h"
#include "scheduler/health/worker_health.h"
#include "scheduler/health/worker_protocol.h"
#include "server/gateway/session/slot_address.h"
#include "server/protocol/control_frame.h"

namespace navtalk::server {
namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

constexpr auto k_worker_idle_timeout = 20s;
constexpr std::size_t k_logged_bytes = 500;  // of a worker's message

std::string text_of(const nlohmann::json& frame, const char* member) {
  const auto found = frame.find(member);
  return found != frame.end() && found->is_string() ? found->get<std::string>() : "";
}

// By name, since what is behind it may be newer than this gateway.
bool is_fence(const std::string& code) { return code == k_stale_epoch || code == k_superseded; }

Opening outcome_of(const WebSocket::Declined& declined) {
  if (declined.shortage) return GatewayShort{declined.message};
  const std::string words = words_of(declined);
  const std::string code = worker_error_code(declined.message).value_or("");
  if (is_fence(code)) return Fenced{words};
  if (code == k_no_memory) return WorkerFull{words};
  return WorkerFailed{.why = "the worker declined a session: " + words,
                      .own_words = worker_error(declined.message).has_value()};
}

// Of a worker's error before session.ready.
Opening outcome_of(Frame frame) {
  const nlohmann::json error = parse_control(frame.bytes).value();
  const std::string code = text_of(error, "code");
  if (is_clients_fault(code)) return ClientRefused{std::move(frame)};
  const std::string words =
      code + ": " + printable_start(text_of(error, "message"), k_logged_bytes);
  if (is_fence(code)) return Fenced{words};
  if (code == k_no_memory) return WorkerFull{words};
  return WorkerFailed{.why = "the worker could not start a session: " + words, .starting = true};
}

asio::awaitable<Opening> await_ready(OpenRequest request, std::unique_ptr<WebSocket> worker) {
  const auto began = Signal::Clock::now();
  auto until = began + request.options.ready_within;
  for (;;) {
    // The client first: what the worker says to one who is gone does not matter.
    if (request.client.left()) co_return ClientLeft{};
    if (request.events.draining) co_return GatewayDrains{};
    if (request.claim.lease_lost()) co_return LeaseLost{};
    if (std::optional<Frame> frame = worker->poll()) {
      const std::string type = frame->text ? type_of(frame->bytes) : "";
      if (type == frame_type::error) co_return outcome_of(std::move(*frame));
      if (type == frame_type::ready) co_return Ready{std::move(worker), std::move(*frame)};
      if (type == frame_type::preparing) {
        until = std::min(Signal::Clock::now() + request.options.ready_within,
                         began + request.options.prepared_within);
      }
      request.client.offer(std::move(*frame));
      continue;
    }
    if (!worker->open())
      co_return WorkerFailed{.why = "the worker ended the session before it was ready",
                             .starting = true};
    if (Signal::Clock::now() >= until)
      co_return WorkerFailed{.why = "the worker did not get a session ready in time",
                             .starting = true};
    co_await request.events.signal.wait(std::min(until, request.client.leaves_at()));
  }
}

}  // namespace

asio::awaitable<Opening> open_on_worker(OpenRequest request) {
  std::optional<WebSocket::Address> address;
  std::string fault;
  try {
    address = slot_address(*request.claim.lease(), request.options.worker_tokens, "/v1/session");
  } catch (const Error& error) {
    fault = error.message();
  }
  if (!address) co_return WorkerFailed{.why = "the worker's URL is not usable: " + fault};
  SocketLimits limits;
  limits.handshake = request.options.connect_within;
  limits.idle_timeout = k_worker_idle_timeout;
  WebSocket::Declined declined;
  std::unique_ptr<WebSocket> worker = co_await WebSocket::connect(*address, limits, declined);
  if (!worker) co_return outcome_of(declined);
  worker->on_activity([&events = request.events] { events.signal.notify(); });
  Frame start;
  start.bytes = request.start();
  co_await worker->send(std::move(start));
  co_return co_await await_ready(request, std::move(worker));
}

}  // namespace navtalk::server
