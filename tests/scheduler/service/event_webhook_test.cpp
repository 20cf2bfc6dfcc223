#include "scheduler/service/event_webhook.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "core/base/guarded.h"
#include "scheduler/cost/budget.h"
#include "scheduler/pool/fail_row.h"
#include "scheduler/pool/notices.h"
#include "scheduler/provision/supply.h"
#include "tests/fakes/loopback_server.h"
#include "tests/scheduler/small_pool.h"

using namespace navtalk;
using namespace navtalk::tests;
using namespace std::chrono_literals;

namespace {

struct Listener {
  Guarded<std::vector<ReceivedRequest>> seen{};
  std::atomic<int> status{204};
  LoopbackServer server{[this](Connection& client, const ReceivedRequest& request) {
    if (status == 204) seen.with([&](auto& list) { list.push_back(request); });
    client.answer(status);
  }};

  std::vector<std::string> types() {
    return seen.with([](const auto& list) {
      std::vector<std::string> types;
      for (const ReceivedRequest& one : list) types.push_back(one.header("navtalk-event-type"));
      return types;
    });
  }
  EventWebhookOptions options(const SmallPool& pool, std::vector<std::string> chosen = {}) const {
    return {.target = {.url = server.url("/hook"), .secret = "s", .allow_private = true},
            .types = std::move(chosen),
            .identity = pool.identity};
  }
};

void fail_pod(SmallPool& pool, const std::string& name) {
  fail_row(*pool.store, pool.pod(State::idle, name), {.cause = {"test", "it broke"}});
}

}  // namespace

TEST_CASE("a webhook tells what happened since its first step, with the event itself") {
  SmallPool pool;
  Listener listener;
  EventWebhook webhook(*pool.store, listener.options(pool));
  fail_pod(pool, "before");
  CHECK(webhook.step() == 0);
  fail_pod(pool, "pod-1");
  pause_creation(*pool.store, 1min, "no balance");
  pause_creation(*pool.store, 1min, "no balance");  // the same refusal goes on
  pool.store->record(Cause{"budget", "80 % are spent"});
  pool.store->record(
      Cause{"scaler", "runpod: 3 of 4 GPUs do not answer" + std::string(notice::k_outage_begins)});
  CHECK(webhook.step() == 4);
  CHECK(listener.types() ==
        std::vector<std::string>{"gpu.failed", "cloud.refused", "budget.reached", "outage.begun"});
  CHECK(webhook.step() == 0);
  const auto seen = listener.seen.with([](const auto& list) { return list; });
  const auto body = nlohmann::json::parse(seen[0].body);
  CHECK(body.at("id") == seen[0].header("navtalk-event-id"));
  CHECK(body.at("type") == "gpu.failed");
  CHECK(body.at("pool") == "test");
  CHECK(body.at("event").at("why") == "it broke");
  CHECK(body.at("event").at("to") == "failed");
}

TEST_CASE("a webhook tells the chosen types alone, and passes the others over") {
  SmallPool pool;
  Listener listener;
  EventWebhook webhook(*pool.store, listener.options(pool, {"budget.reached"}));
  webhook.step();
  fail_pod(pool, "pod-1");
  pool.store->record(Cause{"budget", "50 % are spent"});
  CHECK(webhook.step() == 1);
  CHECK(listener.types() == std::vector<std::string>{"budget.reached"});
  // All types from now on: the failure before is not told late.
  EventWebhook all(*pool.store, listener.options(pool));
  CHECK(all.step() == 0);
}

TEST_CASE(
    "a restart loses no event that the endpoint has not taken, and repeats none that it has") {
  SmallPool pool;
  Listener listener;
  EventWebhook(*pool.store, listener.options(pool)).step();
  fail_pod(pool, "pod-1");
  CHECK(EventWebhook(*pool.store, listener.options(pool)).step() == 1);
  listener.status = 503;
  fail_pod(pool, "pod-2");
  fail_pod(pool, "pod-3");
  EventWebhook failing(*pool.store, listener.options(pool));
  CHECK(failing.step() == 0);
  listener.status = 204;
  CHECK(failing.step() == 0);  // its delay lasts
  CHECK(EventWebhook(*pool.store, listener.options(pool)).step() == 2);
  CHECK(listener.types().size() == 3);
}

TEST_CASE("an event that nobody took for too long is passed over") {
  SmallPool pool;
  Listener listener;
  EventWebhookOptions options = listener.options(pool);
  options.give_up = {};
  EventWebhook webhook(*pool.store, options);
  webhook.step();
  fail_pod(pool, "pod-1");
  CHECK(webhook.step() == 0);
  CHECK(EventWebhook(*pool.store, listener.options(pool)).step() == 0);
  CHECK(listener.types().empty());
}

TEST_CASE("events of everyday work concern no webhook") {
  PoolEvent event{.gpu = {"g"}, .who = "scaler", .from = State::starting, .to = State::idle};
  CHECK_FALSE(webhook_type(event));
  event.to = State::failed;
  CHECK(webhook_type(event) == "gpu.failed");
  CHECK_FALSE(webhook_type({.who = "scaler", .why = "the schedule that holds is none"}));
  CHECK(webhook_type({.why = "runpod" + std::string(notice::k_sessions_break)}) ==
        "sessions.break");
  CHECK(webhook_type({.why = "x" + std::string(notice::k_outage_over)}) == "outage.over");
}
