#include "server/gateway/status_api.h"

#include <nlohmann/json.hpp>

#include "core/log/log.h"
#include "server/gateway/gateway_metrics.h"
#include "server/gateway/pool_metrics.h"

namespace navtalk::server {
namespace asio = boost::asio;
using Json = nlohmann::ordered_json;

StatusApi::StatusApi(PoolStore& store, BlockingThreads& threads, const Sessions& sessions,
                     std::string version, Problems problems)
    : store_(store),
      threads_(threads),
      sessions_(sessions),
      version_(std::move(version)),
      problems_(std::move(problems)) {}

void StatusApi::add_routes(Router& router) {
  router.on("GET", "/healthz", [this](const Request&) -> asio::awaitable<Response> {
    co_return json_response(200, {{"version", version_}, {"sessions", sessions_.size()}});
  });
  router.on("GET", "/readyz", [this](const Request&) { return readyz(); });
  router.on("GET", "/metrics", [this](const Request&) { return metrics(); });
}

asio::awaitable<Response> StatusApi::readyz() {
  Json problems = Json::array();
  try {
    co_await threads_.run([this] { return store_.setting("readyz"); });
  } catch (const Error& error) {
    problems.push_back("the store cannot be reached: " + error.message());
  }
  if (problems_) {
    for (const std::string& problem : problems_()) problems.push_back(problem);
  }
  if (sessions_.draining()) problems.push_back("this gateway is going away");
  const bool ready = problems.empty();
  Json body;
  body["ready"] = ready;
  body["problems"] = std::move(problems);
  co_return json_response(ready ? 200 : 503, body);
}

asio::awaitable<Response> StatusApi::metrics() {
  MetricsPage page;
  add_gateway_metrics(page, sessions_.counters(), sessions_.size());
  try {
    const PoolFacts facts = co_await threads_.run([this] { return read_pool_facts(store_); });
    add_pool_metrics(page, facts);
    page.gauge("navtalk_store_up", "1 while the store answers this gateway", 1);
  } catch (const Error& error) {
    // The gateway's own numbers are wanted then most of all.
    log::warn("the store's numbers are missing from /metrics", {{"error", error.what()}});
    page.gauge("navtalk_store_up", "1 while the store answers this gateway", 0);
  }
  co_return page.response();
}

}  // namespace navtalk::server
