// The gateway's HTTP routes: health, metrics, and what an operator does to the pool.
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "core/log/log.h"
#include "core/net/url.h"
#include "core/text/number.h"
#include "scheduler/provision/operator_actions.h"
#include "scheduler/service/pool_report.h"
#include "server/gateway/gateway_state.h"
#include "server/http/metrics.h"
#include "server/http/same_machine.h"

namespace navtalk::server {
namespace asio = boost::asio;
using Json = nlohmann::ordered_json;

namespace {

constexpr Duration k_recent = std::chrono::hours(1);
constexpr int k_max_slots = 1000;
constexpr const char* k_operator = "operator over HTTP";

bool says_json(const Request& request) {
  const std::string type = request.header("content-type").value_or("");
  return type.substr(0, type.find_first_of("; ")) == "application/json";
}

// What the state of a GPU does not allow is the asker's conflict, not our failure.
Response refusal_of(const Error& error) {
  if (error.code() == Code::failed) return error_response(409, "failed", error.message());
  return error_response(error);
}

// As `pool add --slots` takes them; a number that is none of these would become another one.
int slots_of(const nlohmann::json& body) {
  const nlohmann::json slots = body.value("slots", nlohmann::json(1));
  if (!slots.is_number_integer() || slots < 1 || slots > k_max_slots)
    throw Error(Code::usage, "slots is a whole number from 1 to " + std::to_string(k_max_slots));
  return slots.get<int>();
}

Registration registration_of(const Request& request) {
  const nlohmann::json body = json_body(request);
  try {
    return {.url = body.at("url").get<std::string>(),
            .slots = slots_of(body),
            .dedicated_to = {body.value("dedicated_to", std::string())}};
  } catch (const nlohmann::json::exception&) {
    throw Error(Code::usage,
                R"(the body is {"url": "http://...", "slots": 1, "dedicated_to": "TENANT"})");
  }
}

std::int64_t number_of(const Request& request, std::string_view name, std::int64_t otherwise) {
  const auto text = request.parameter(name);
  if (!text) return otherwise;
  const auto value = parse_number<std::int64_t>(*text);
  if (!value || *value < 0)
    throw Error(Code::usage, std::string(name) + " is not a whole number from 0");
  return *value;
}

// What the store knows, for one scrape.
struct PoolFacts {
  PoolReport report;
  std::vector<Attempt> attempts;
  std::vector<Promise> promises;
};

PoolFacts facts_of(PoolStore& store) {
  const TimePoint since = store.now() - k_recent;
  return {report_pool(store), store.attempts(since), store.promises(since)};
}

void put_headroom(MetricsPage& page, const Headroom& headroom) {
  page.gauge("navtalk_scaler_headroom_deviations",
             "Learnt headroom above the forecast, in the forecast's own deviations",
             headroom.used.deviations);
  page.gauge("navtalk_scaler_headroom_trust_ratio",
             "How much of it is used in place of the normal quantile", headroom.used.trust);
  page.gauge("navtalk_scaler_headroom_users", "Users of the last month it was learnt from",
             headroom.users);
  page.gauge("navtalk_scaler_headroom_rushes",
             "Bursts of the last month that no forecast predicted", headroom.bursts);
}

void put_pool(MetricsPage& page, const PoolReport& report) {
  std::map<std::pair<Source, State>, int> gpus;
  for (const Source source : {Source::local, Source::external, Source::cloud}) {
    for (int state = 0; state < k_states; ++state) gpus[{source, static_cast<State>(state)}] = 0;
  }
  for (const Gpu& gpu : report.view.gpus) ++gpus[{gpu.source, gpu.state}];
  for (const auto& [key, count] : gpus) {
    page.gauge(
        "navtalk_pool_gpus", "GPUs by source and state", count,
        {{"source", std::string(name(key.first))}, {"state", std::string(name(key.second))}});
  }
  const PoolTotals& totals = report.totals;
  page.gauge("navtalk_pool_slots", "Slots of all GPUs", totals.slots);
  page.gauge("navtalk_pool_free_slots", "Slots that can be claimed now", totals.free_slots);
  page.gauge("navtalk_pool_sessions", "Open leases", totals.sessions);
  page.gauge("navtalk_queue_depth", "Users who wait for a slot", totals.waiting);
  page.gauge("navtalk_pool_usd_per_hour", "Price of everything that is paid for now",
             totals.usd_per_hour);
  page.gauge("navtalk_pool_usd_last_day", "Paid within 24 hours", totals.usd_last_day);
  if (totals.headroom) put_headroom(page, *totals.headroom);
  page.gauge("navtalk_scaler_cloud_on", "1 while the cloud is switched on", totals.cloud ? 1 : 0);
  if (!totals.decision) return;
  page.gauge("navtalk_scaler_target_slots", "Slots that the scaler wants", totals.decision->target);
  page.gauge("navtalk_scaler_supply_slots", "Slots that it counts", totals.decision->supply);
}

void put_recent(MetricsPage& page, const PoolFacts& facts) {
  std::map<MetricLabels, int> attempts;
  for (const Attempt& attempt : facts.attempts) {
    ++attempts[{{"source", std::string(name(attempt.source))},
                {"operation", std::string(name(attempt.operation))},
                {"result", std::string(name(attempt.result))}}];
  }
  for (const auto& [labels, count] : attempts) {
    page.gauge("navtalk_provider_attempts_last_hour", "Creates and wakes by their outcome", count,
               labels);
  }
  int scored = 0, kept = 0;
  double error_s = 0;
  for (const Promise& promise : facts.promises) {
    if (!promise.actual) continue;
    ++scored;
    kept += *promise.actual <= promise.promised ? 1 : 0;
    error_s += std::abs(in_seconds(*promise.actual - promise.promised));
  }
  page.gauge("navtalk_eta_scored_last_hour", "Promised waits whose outcome is known", scored);
  if (scored == 0) return;
  page.gauge("navtalk_eta_kept_ratio", "Part of them that was kept; 0.9 is meant",
             static_cast<double>(kept) / scored);
  page.gauge("navtalk_eta_error_seconds", "Mean distance between promise and wait",
             error_s / scored);
}

void put_gateway(MetricsPage& page, const GatewayCounts& counts, std::size_t sessions) {
  const auto total = [&](const char* name, const char* help, std::uint64_t value) {
    page.counter(name, help, static_cast<double>(value));
  };
  page.gauge("navtalk_gateway_connections", "Users connected here, waiting ones included",
             static_cast<double>(sessions));
  total("navtalk_gateway_sessions_total", "Sessions that got their worker", counts.sessions);
  total("navtalk_gateway_refused_total", "Users told that there is no GPU", counts.refused);
  total("navtalk_gateway_left_queue_total", "Users who left the queue", counts.left_queue);
  total("navtalk_gateway_connect_failed_total", "Workers that could not be connected to",
        counts.connect_failed);
  total("navtalk_gateway_worker_lost_total", "Sessions whose worker was lost", counts.worker_lost);
  total("navtalk_gateway_lease_lost_total", "Sessions whose lease ran out", counts.lease_lost);
  total("navtalk_gateway_to_worker_bytes_total", "Relayed to workers", counts.bytes_to_worker);
  total("navtalk_gateway_to_client_bytes_total", "Relayed to users", counts.bytes_to_client);
  page.histogram("navtalk_gateway_wait_seconds", "From connecting to session.ready",
                 {k_wait_bounds.begin(), k_wait_bounds.end()},
                 {counts.waits.begin(), counts.waits.end()}, counts.waits_sum);
}

}  // namespace

Router Gateway::State::routes() {
  Router router;
  router.guard([this](const Request& request) { return authorize(request); });
  router.on("GET", "/healthz", [this](const Request&) -> asio::awaitable<Response> {
    co_return json_response(200, {{"version", options.version}, {"sessions", sessions.size()}});
  });
  router.on("GET", "/readyz", [this](const Request&) { return readyz(); });
  router.on("GET", "/metrics", [this](const Request&) { return metrics(); });
  router.on("GET", "/v1/pool", [this](const Request&) { return pool(); });
  router.on("GET", "/v1/pool/events", [this](const Request& request) { return events(request); });
  router.on("POST", "/v1/pool/gpus", [this](const Request& request) { return add_gpu(request); });
  for (const char* const action : {"drain", "undrain", "wake", "pause"}) {
    router.on("POST", std::string("/v1/pool/gpus/{id}/") + action,
              [this, action](const Request& request) { return act_on_gpu(request, action); });
  }
  router.on("DELETE", "/v1/pool/gpus/{id}",
            [this](const Request& request) { return act_on_gpu(request, "remove"); });
  router.on_socket("/v1/realtime", [this](const Request& request, Upgrade& upgrade) {
    return realtime(request, upgrade);
  });
  return router;
}

// Here keys and browser tokens will be looked at. Until there are any, whoever is on this machine
// may do everything; but a page in a browser here, from elsewhere, is not meant by that.
asio::awaitable<std::optional<Response>> Gateway::State::authorize(const Request& request) {
  const auto host = request.header("host");
  const auto origin = request.header("origin");
  if ((host && !is_this_machine(*host)) || (origin && !is_page_of_this_machine(*origin))) {
    co_return error_response(403, "forbidden",
                             "only programs and pages of this machine are served");
  }
  // A page may send forms and plain text anywhere without asking; JSON it may not.
  if (!request.body.empty() && !says_json(request)) {
    co_return error_response(415, "usage",
                             "a body needs the header Content-Type: application/json");
  }
  co_return std::nullopt;
}

asio::awaitable<Response> Gateway::State::readyz() {
  Json problems = Json::array();
  try {
    co_await on_store([this] { return store.setting("readyz"); });
  } catch (const Error& error) {
    problems.push_back("the store cannot be reached: " + error.message());
  }
  if (options.problems) {
    for (const std::string& problem : options.problems()) problems.push_back(problem);
  }
  if (stopping) problems.push_back("this gateway is going away");
  const bool ready = problems.empty();
  Json body;
  body["ready"] = ready;
  body["problems"] = std::move(problems);
  co_return json_response(ready ? 200 : 503, body);
}

asio::awaitable<Response> Gateway::State::metrics() {
  MetricsPage page;
  put_gateway(page, counts, sessions.size());
  try {
    const PoolFacts facts = co_await on_store([this] { return facts_of(store); });
    put_pool(page, facts.report);
    put_recent(page, facts);
    page.gauge("navtalk_store_up", "1 while the store answers", 1);
  } catch (const Error& error) {
    // The gateway's own numbers are wanted then most of all.
    log::warn("the store's numbers are missing from /metrics", {{"error", error.what()}});
    page.gauge("navtalk_store_up", "1 while the store answers", 0);
  }
  co_return page.response();
}

asio::awaitable<Response> Gateway::State::pool() {
  const PoolReport report = co_await on_store([this] { return report_pool(store); });
  co_return json_response(200, as_json(report));
}

asio::awaitable<Response> Gateway::State::events(const Request& request) {
  EventQuery query;
  query.after = number_of(request, "after", 0);
  query.limit =
      static_cast<std::size_t>(std::min<std::int64_t>(number_of(request, "limit", 1000), 10'000));
  if (const auto gpu = request.parameter("gpu")) query.gpu = GpuId{*gpu};
  const std::vector<PoolEvent> found = co_await on_store([&] { return store.events(query); });
  Json list = Json::array();
  for (const PoolEvent& event : found) list.push_back(as_json(event));
  Json body;
  body["events"] = std::move(list);
  co_return json_response(200, body);
}

asio::awaitable<Response> Gateway::State::add_gpu(const Request& request) {
  const Registration registration = registration_of(request);
  const Json row = co_await on_store([&] {
    const Gpu gpu = register_gpu(store, options.identity, registration, k_operator);
    return as_json(report_pool(store), gpu);
  });
  co_return json_response(201, row);
}

asio::awaitable<Response> Gateway::State::act_on_gpu(const Request& request, std::string action) {
  const std::string& id = request.capture("id");
  const auto act = [&] {
    if (action == "wake") return wake_gpu(store, id, k_operator);
    if (action == "pause") return pause_gpu(store, id, k_operator);
    if (action == "remove") return remove_gpu(store, id, k_operator);
    return drain_gpu(store, id, action == "undrain", k_operator);
  };
  co_return co_await on_store([&]() -> Response {
    std::optional<Gpu> gpu;
    try {
      gpu = act();
    } catch (const Error& error) {
      return refusal_of(error);
    }
    return json_response(202, as_json(report_pool(store), *gpu));
  });
}

}  // namespace navtalk::server
