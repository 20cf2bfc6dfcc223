#include "server/gateway/operator_api.h"

#include <nlohmann/json.hpp>

#include "core/text/number.h"
#include "scheduler/cost/spend.h"
#include "scheduler/provision/operator_actions.h"
#include "scheduler/service/pool_report.h"

namespace navtalk::server {
namespace asio = boost::asio;
using Json = nlohmann::ordered_json;

namespace {

constexpr int k_max_slots = 1000;
constexpr const char* k_operator = "operator over HTTP";

// What the state of a GPU does not allow is a conflict of the request, not a failure of ours.
Response refusal_of(const Error& error) {
  if (error.code() == Code::failed) return error_response(409, "failed", error.message());
  return error_response(error);
}

// The same range as `pool add --slots`. A number outside it would be truncated.
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

// {"notice_s": 30}, or nothing.
Duration drain_notice_of(const Request& request) {
  if (request.body.empty()) return k_drain_notice;
  const Json body = Json::parse(request.body, nullptr, false);
  const bool is_object = body.is_object();
  const auto notice = is_object ? body.find("notice_s") : body.end();
  if (is_object && notice == body.end()) return k_drain_notice;
  const double most_s = in_seconds(k_longest_drain_notice);
  const bool fits = is_object && notice->is_number() && *notice >= 0 && *notice <= most_s;
  if (!fits) throw Error(Code::usage, R"(the body is {"notice_s": SECONDS}, from 0 to a day)");
  return from_seconds(notice->get<double>());
}

std::int64_t number_of(const Request& request, std::string_view name, std::int64_t otherwise) {
  const auto text = request.parameter(name);
  if (!text) return otherwise;
  const auto value = parse_number<std::int64_t>(*text);
  if (!value || *value < 0)
    throw Error(Code::usage, std::string(name) + " is not a whole number from 0");
  return *value;
}

}  // namespace

OperatorApi::OperatorApi(PoolStore& store, BlockingThreads& threads, OperatorOptions options)
    : store_(store), threads_(threads), options_(std::move(options)) {}

void OperatorApi::add_routes(Router& router) {
  router.on("GET", "/v1/pool", [this](const Request&) { return pool(); });
  router.on("GET", "/v1/pool/events", [this](const Request& request) { return events(request); });
  router.on("GET", "/v1/pool/cost", [this](const Request& request) { return cost(request); });
  router.on("POST", "/v1/pool/gpus", [this](const Request& request) { return add_gpu(request); });
  for (const char* const action : {"drain", "undrain", "wake", "pause"}) {
    router.on("POST", std::string("/v1/pool/gpus/{id}/") + action,
              [this, action](const Request& request) { return act_on_gpu(request, action); });
  }
  router.on("DELETE", "/v1/pool/gpus/{id}",
            [this](const Request& request) { return act_on_gpu(request, "remove"); });
}

asio::awaitable<Response> OperatorApi::pool() {
  const PoolReport report = co_await threads_.run([this] { return report_pool(store_); });
  co_return json_response(200, as_json(report));
}

asio::awaitable<Response> OperatorApi::events(const Request& request) {
  EventQuery query;
  query.after = number_of(request, "after", 0);
  query.limit =
      static_cast<std::size_t>(std::min<std::int64_t>(number_of(request, "limit", 1000), 10'000));
  if (const auto gpu = request.parameter("gpu")) query.gpu = GpuId{*gpu};
  const std::vector<PoolEvent> found = co_await threads_.run([&] { return store_.events(query); });
  Json list = Json::array();
  for (const PoolEvent& event : found) list.push_back(as_json(event));
  Json body;
  body["events"] = std::move(list);
  co_return json_response(200, body);
}

asio::awaitable<Response> OperatorApi::cost(const Request& request) {
  constexpr std::int64_t k_most = k_keep_accounts.count();
  const std::int64_t days = number_of(request, "days", 7);
  if (days < 1 || days > k_most)
    throw Error(Code::usage, "days is a whole number from 1 to " + std::to_string(k_most));
  co_return co_await threads_.run([&] {
    Json body = as_json(read_spend(store_, static_cast<int>(days)));
    body["budgets"] = as_json(budget_states(store_, options_.budgets));
    return json_response(200, body);
  });
}

asio::awaitable<Response> OperatorApi::add_gpu(const Request& request) {
  Registration registration = registration_of(request);
  registration.allow_http = options_.allow_http_workers;
  const Json row = co_await threads_.run([&] {
    const Gpu gpu = register_gpu(store_, options_.identity, registration, k_operator);
    return as_json(report_pool(store_), gpu);
  });
  co_return json_response(201, row);
}

asio::awaitable<Response> OperatorApi::act_on_gpu(const Request& request, std::string action) {
  const std::string& id = request.capture("id");
  const Duration notice = action == "drain" ? drain_notice_of(request) : Duration{};
  const auto act = [&] {
    if (action == "wake") return wake_gpu(store_, id, k_operator);
    if (action == "pause") return pause_gpu(store_, id, k_operator);
    if (action == "remove") return remove_gpu(store_, id, k_operator);
    if (action == "undrain") return undrain_gpu(store_, id, k_operator);
    return drain_gpu(store_, id, notice, k_operator);
  };
  co_return co_await threads_.run([&]() -> Response {
    std::optional<Gpu> gpu;
    try {
      gpu = act();
    } catch (const Error& error) {
      return refusal_of(error);
    }
    return json_response(202, as_json(report_pool(store_), *gpu));
  });
}

}  // namespace navtalk::server
