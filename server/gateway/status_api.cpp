#include "server/gateway/status_api.h"

#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <nlohmann/json.hpp>

#include "core/log/log.h"
#include "server/gateway/gateway_metrics.h"
#include "server/gateway/pool_metrics.h"
#include "server/http/signal.h"

namespace navtalk::server {
namespace asio = boost::asio;
using Json = nlohmann::ordered_json;

namespace {

constexpr auto k_free_within = std::chrono::seconds(5);  // workers are asked for less than that

// Whether a thread takes work within that time.
asio::awaitable<bool> has_free_thread(BlockingThreads& threads) {
  struct Echo {
    explicit Echo(const asio::any_io_executor& executor) : signal(executor) {}
    Signal signal;
    bool came = false;
  };
  const auto executor = co_await asio::this_coro::executor;
  const auto echo = std::make_shared<Echo>(executor);
  threads.post([echo, executor] {
    asio::post(executor, [echo] {
      echo->came = true;
      echo->signal.notify();
    });
  });
  const auto until = Signal::Clock::now() + k_free_within;
  while (!echo->came && Signal::Clock::now() < until) co_await echo->signal.wait(until);
  co_return echo->came;
}

}  // namespace

StatusApi::StatusApi(PoolStore& store, BlockingThreads& threads, BlockingThreads& worker_threads,
                     const Sessions& sessions, const Access& access, std::string version,
                     Problems problems, Budgets budgets)
    : store_(store),
      threads_(threads),
      worker_threads_(worker_threads),
      sessions_(sessions),
      access_(access),
      version_(std::move(version)),
      problems_(std::move(problems)),
      budgets_(budgets) {}

void StatusApi::add_health(Router& router) {
  router.on("GET", "/healthz", [this](const Request&) -> asio::awaitable<Response> {
    co_return json_response(200, {{"version", version_}, {"sessions", sessions_.size()}});
  });
  router.on("GET", "/readyz", [this](const Request&) { return readyz(); });
}

void StatusApi::add_metrics(Router& router) {
  router.on("GET", "/metrics", [this](const Request&) { return metrics(); });
}

asio::awaitable<std::vector<std::string>> StatusApi::what_is_wrong() {
  const bool in_full = !access_.keys_required();
  std::vector<std::string> problems;
  try {
    // Any read tells whether the store answers; no setting has this name.
    co_await threads_.run([this] { return store_.setting("readyz"); });
  } catch (const Error& error) {
    log::warn("/readyz: the store cannot be reached", {{"error", error.message()}});
    problems.push_back("the store cannot be reached" + (in_full ? ": " + error.message() : ""));
  }
  const bool free_thread = co_await has_free_thread(worker_threads_);
  if (!free_thread) problems.emplace_back("no thread is free to ask workers");
  const std::vector<std::string> loops = problems_ ? problems_() : std::vector<std::string>{};
  if (in_full) {
    problems.insert(problems.end(), loops.begin(), loops.end());
  } else if (!loops.empty()) {
    for (const std::string& problem : loops) log::warn("/readyz: " + problem);
    problems.emplace_back("the pool's loops do not all run; the log says more");
  }
  if (sessions_.draining()) problems.emplace_back("this gateway is going away");
  co_return problems;
}

asio::awaitable<Response> StatusApi::readyz() {
  const std::vector<std::string> problems = co_await what_is_wrong();
  Json body;
  body["ready"] = problems.empty();
  body["problems"] = problems;
  body["degraded"] = Json::array();
  for (const Degraded& degraded : degraded_)
    for (const std::string& one : degraded(!access_.keys_required()))
      body["degraded"].push_back(one);
  co_return json_response(problems.empty() ? 200 : 503, body);
}

asio::awaitable<Response> StatusApi::metrics() {
  MetricsPage page;
  add_gateway_metrics(page, sessions_.counters(), sessions_.size());
  add_access_metrics(page, access_.counters());
  try {
    const PoolFacts facts =
        co_await threads_.run([this] { return read_pool_facts(store_, budgets_); });
    add_pool_metrics(page, facts);
    for (const MoreMetrics& more : more_) co_await more(page);
    page.gauge("navtalk_store_up", "1 while the store answers this gateway", 1);
  } catch (const Error& error) {
    // The gateway's own numbers are wanted then most of all.
    log::warn("the store's numbers are missing from /metrics", {{"error", error.what()}});
    page.gauge("navtalk_store_up", "1 while the store answers this gateway", 0);
  }
  co_return page.response();
}

}  // namespace navtalk::server
