// The gateway's HTTP: the pool for operators, health, metrics, and who may ask.
#include <atomic>
#include <catch2/catch.hpp>

#include "scheduler/forecast/headroom.h"
#include "scheduler/pool/faults/outage.h"
#include "scheduler/pool/faults/session_faults.h"
#include "scheduler/pool/settings.h"
#include "tests/server/gateway/gateway_pool.h"

using namespace navtalk;
using namespace navtalk::server;
using namespace navtalk::tests;
using namespace std::chrono_literals;

TEST_CASE("an operator sees the pool, adds, drains and removes GPUs over HTTP") {
  GatewayPool pool;
  pool.add_worker();
  const Got added =
      pool.operate("POST", "/v1/pool/gpus",
                   R"({"url": "http://127.0.0.1:9", "slots": 3, "dedicated_to": "acme"})", k_json);
  CHECK(added.status == 201);
  const std::string id = added.body.at("id");
  CHECK(added.body.at("slots") == 3);
  CHECK(added.body.at("dedicated_to") == "acme");
  CHECK(pool.operate("GET", "/v1/pool").body.at("gpus").size() == 2);
  CHECK(pool.operate("POST", "/v1/pool/gpus", "{}", k_json).status == 400);
  for (const char* const slots : {"0", "1e18", "1000000000000000000", "1001", "1.5", "\"2\""}) {
    const Got wrong = pool.operate(
        "POST", "/v1/pool/gpus",
        R"({"url": "http://127.0.0.1:8", "slots": )" + std::string(slots) + "}", k_json);
    CHECK(wrong.status == 400);
    CHECK_THAT(wrong.text, Catch::Contains("slots is a whole number from 1 to 1000"));
  }
  for (const char* const url : {"http://127.0.0.1:9/", "HTTP://127.0.0.1:9"}) {
    const Got again =
        pool.operate("POST", "/v1/pool/gpus", R"({"url": ")" + std::string(url) + R"("})", k_json);
    CHECK(again.status == 422);
    CHECK_THAT(again.text, Catch::Contains(id));
  }
  const Got strange =
      pool.operate("POST", "/v1/pool/gpus",
                   R"({"url": "http://127.0.0.1:8", "dedicated_to": "a\nb\u001b[31m"})", k_json);
  CHECK(strange.status == 422);
  CHECK_THAT(strange.text, Catch::Contains("not a valid tenant name"));
  const Got drained = pool.operate("POST", "/v1/pool/gpus/" + id + "/drain");
  CHECK(drained.status == 202);
  CHECK(pool.operate("POST", "/v1/pool/gpus/" + id + "/wake").status == 409);
  CHECK(pool.operate("POST", "/v1/pool/gpus/nobody/drain").status == 404);
  CHECK(pool.operate("DELETE", "/v1/pool/gpus/" + id).status == 202);
  CHECK(pool.operate("GET", "/v1/pool").body.at("gpus").size() == 1);
  const Got events = pool.operate("GET", "/v1/pool/events?limit=2");
  CHECK(events.body.at("events").size() == 2);
  CHECK(pool.operate("GET", "/v1/pool/events?after=x").status == 400);
}

TEST_CASE("operators see costs and budgets over HTTP and in /metrics") {
  GatewayOptions options;
  options.budgets = {.usd_per_day = 5};
  GatewayPool pool({}, options);
  pool.add_worker();
  SocketClient client = pool.connect();
  client.send(k_start);
  REQUIRE(client.receive_type("session.ready").is_object());
  const Got cost = pool.operate("GET", "/v1/pool/cost?days=3");
  REQUIRE(cost.status == 200);
  CHECK(cost.body.at("tenants").size() == 1);
  CHECK(cost.body.at("usd") == 0);
  CHECK(cost.body.at("budgets").at(0).at("budget_usd") == 5);
  CHECK(pool.operate("GET", "/v1/pool/cost").status == 200);
  for (const char* days : {"0", "401", "-1", "x"}) {
    INFO(days);
    CHECK(pool.operate("GET", std::string("/v1/pool/cost?days=") + days).status == 400);
  }
  const std::string metrics = ask("GET", pool.url() + "/metrics").text;
  CHECK_THAT(metrics, Catch::Contains("navtalk_pool_budget_usd{period=\"day\"} 5"));
  CHECK_THAT(metrics, Catch::Contains("navtalk_pool_spent_usd{period=\"day\"} 0"));
  CHECK_THAT(metrics, !Catch::Contains("period=\"month\""));
}

TEST_CASE("everything under /v1/pool needs the operator's key, whatever it is") {
  GatewayPool pool;
  const Gpu gpu = pool.add_dead_worker();
  const std::string gpus = "/v1/pool/gpus", one = gpus + "/" + gpu.id.text;
  const Headers routes = {{"GET", "/v1/pool"},
                          {"GET", "/v1/pool/"},
                          {"GET", "/v1/%70ool"},
                          {"GET", "/v1/pool?a=b"},
                          {"GET", "/v1/pool/events"},
                          {"GET", "/v1/pool/nothing"},
                          {"GET", "/v1/pool/cost"},
                          {"POST", gpus},
                          {"POST", one + "/drain"},
                          {"POST", one + "/undrain"},
                          {"POST", one + "/wake"},
                          {"POST", one + "/pause"},
                          {"DELETE", one}};
  const std::vector<Headers> strangers = {
      {},
      {{"Authorization", "Bearer "}},
      {{"Authorization", "Bearer " + k_operator_key + "x"}},
      {{"Authorization", "Bearer " + WorkerTokens("secret").of(gpu)}},
      {{"Authorization", "Basic " + k_operator_key}},
      {{"Authorization", k_operator_key}}};
  for (const auto& [method, route] : routes) {
    for (const Headers& headers : strangers) {
      INFO(method << " " << route);
      CHECK(ask(method, pool.url() + route, "", headers).status == 401);
    }
  }
  CHECK(pool.store().find(gpu.id) == gpu);
  const Got refused = ask("GET", pool.url() + "/v1/pool");
  CHECK(refused.headers.find("www-authenticate")->second == "Bearer");
  CHECK_THAT(refused.text, Catch::Contains("the gateway's operator key"));
  for (const char* const open : {"/healthz", "/readyz", "/metrics"}) {
    CHECK(ask("GET", pool.url() + open).status == 200);
  }
  CHECK(pool.operate("GET", "/v1/pool").status == 200);
}

TEST_CASE("a gateway without an operator's key refuses everyone under /v1/pool") {
  const TemporaryDirectory folder;
  const auto store = PoolStore::open("sqlite:" + (folder / "pool.db").native());
  Supply supply(*store, {});
  DemandTracker demand_tracker(*store);
  Allocator allocator(*store, supply, demand_tracker, {});
  Gateway gateway(*store, allocator, {.listen = "127.0.0.1:0"});
  std::stop_source stop;
  const auto running = std::async(std::launch::async, [&] { gateway.run(stop.get_token()); });
  CHECK(ask("GET", gateway.url() + "/v1/pool").status == 401);
  CHECK(ask("GET", gateway.url() + "/v1/pool", "", {{"Authorization", "Bearer "}}).status == 401);
  stop.request_stop();
  running.wait();
}

TEST_CASE("a worker beyond loopback is registered over http only where that is allowed") {
  const bool allowed = GENERATE(false, true);
  GatewayPool pool({}, {.allow_http_workers = allowed});
  const Got got =
      pool.operate("POST", "/v1/pool/gpus", R"({"url": "http://10.0.0.7:2160"})", k_json);
  CHECK(got.status == (allowed ? 201 : 422));
  if (!allowed) CHECK_THAT(got.text, Catch::Contains("pool.allow_http_workers"));
}

TEST_CASE("readiness reports the problems of the pool's loops, and metrics the pool") {
  GatewayOptions stuck;
  auto turning = std::make_shared<std::atomic<bool>>(true);
  stuck.problems = [turning] {
    using Problems = std::vector<std::string>;
    return turning->load() ? Problems{} : Problems{"a loop is stuck"};
  };
  GatewayPool pool({}, stuck);
  pool.add_worker();
  CHECK(ask("GET", pool.url() + "/healthz").status == 200);
  CHECK(ask("GET", pool.url() + "/readyz").status == 200);
  *turning = false;
  const Got unready = ask("GET", pool.url() + "/readyz");
  CHECK(unready.status == 503);
  CHECK_THAT(unready.text, Catch::Contains("a loop is stuck"));
  const std::string metrics = ask("GET", pool.url() + "/metrics").text;
  CHECK_THAT(metrics, Catch::Contains(R"(navtalk_pool_gpus{provider="local",state="idle"} 1)"));
  CHECK_THAT(metrics, Catch::Contains("navtalk_queue_depth 0"));
  CHECK_THAT(metrics, Catch::Contains("navtalk_gateway_wait_seconds_bucket"));
}

TEST_CASE("what GPUs say of themselves is shown by GPU and scraped by provider") {
  GatewayPool pool;
  const auto metrics = [&] { return ask("GET", pool.url() + "/metrics").text; };
  const Gpu cool = pool.add_worker(), hot = pool.add_worker(), cpu = pool.add_worker();
  CHECK_THAT(metrics(), !Catch::Contains("navtalk_pool_measured_gpus") &&
                            !Catch::Contains("navtalk_pool_gpu_"));
  constexpr std::uint64_t k_gib = std::uint64_t{1} << 30;
  pool.store().seen({{cool.id, GpuReading{.memory_used = 3 * k_gib, .memory_total = 80 * k_gib}},
                     {hot.id, GpuReading{.memory_used = k_gib,
                                         .memory_total = 20 * k_gib,
                                         .load_percent = 75,
                                         .temperature_c = 61}},
                     {cpu.id}},
                    pool.store().now());
  const std::string measured = metrics();
  for (const char* const line :
       {R"(navtalk_pool_measured_gpus{provider="local"} 2)",
        R"(navtalk_pool_gpu_memory_used_bytes{provider="local"} 4294967296)",
        R"(navtalk_pool_gpu_memory_total_bytes{provider="local"} 107374182400)",
        R"(navtalk_pool_gpu_load_ratio{provider="local"} 0.75)",
        R"(navtalk_pool_gpu_temperature_celsius{provider="local"} 61)"}) {
    CHECK_THAT(measured, Catch::Contains(std::string(line) + "\n"));
  }
  CHECK_THAT(measured, !Catch::Contains(R"(navtalk_pool_measured_gpus{provider="runpod"})"));
  const nlohmann::json gpus = pool.operate("GET", "/v1/pool").body["gpus"];
  for (const auto& gpu : gpus) {
    if (gpu["id"] == cpu.id.text) CHECK(gpu["gpu"].is_null());
    if (gpu["id"] == hot.id.text) CHECK(gpu["gpu"]["vram_used"] == k_gib);
  }
}

TEST_CASE("sessions that break on most GPUs of a source are shown and scraped") {
  GatewayPool pool;
  PoolStore& store = pool.store();
  const auto broken = [&] {
    return pool.operate("GET", "/v1/pool").body["totals"]["sessions_break"];
  };
  CHECK(broken().empty());
  SessionFaults faults;
  for (const int ago_s : {20, 10}) {
    for (const char* const gpu : {"x", "y"}) {
      faults.add({.gpu = {gpu},
                  .origin = Origin::runpod,
                  .client = gpu + std::to_string(ago_s),
                  .at = store.now() - std::chrono::seconds(ago_s)});
    }
  }
  k_session_faults.write(store, faults);
  CHECK(broken() == nlohmann::json::parse(R"(["runpod"])"));
  const std::string metrics = ask("GET", pool.url() + "/metrics").text;
  CHECK_THAT(metrics, Catch::Contains(R"(navtalk_pool_sessions_break{provider="runpod"} 1)"));
  CHECK_THAT(metrics, Catch::Contains(R"(navtalk_pool_sessions_break{provider="local"} 0)"));
}

TEST_CASE("an outage of a source and its silent GPUs are shown and scraped") {
  GatewayPool pool;
  PoolStore& store = pool.store();
  const auto totals = [&] { return pool.operate("GET", "/v1/pool").body["totals"]; };
  CHECK(totals().at("outages").empty());
  Outages outages;
  outages[Origin::runpod] = {.on = true, .since = store.now()};
  REQUIRE(replace_outages(store, {}, outages));
  CHECK(totals().at("outages") == nlohmann::json::parse(R"(["runpod"])"));
  CHECK(totals().at("silent") == 0);
  const std::string metrics = ask("GET", pool.url() + "/metrics").text;
  for (const char* const line : {R"(navtalk_pool_outage{provider="runpod"} 1)",
                                 R"(navtalk_pool_outage{provider="external"} 0)",
                                 R"(navtalk_pool_silent_gpus{provider="runpod"} 0)"}) {
    CHECK_THAT(metrics, Catch::Contains(line));
  }
}

TEST_CASE("what the adaptive policy has learned is shown while it is looked after") {
  GatewayPool pool;
  PoolStore& store = pool.store();
  const auto shown = [&] { return pool.operate("GET", "/v1/pool").body["totals"]["headroom"]; };
  const auto scraped = [&] { return ask("GET", pool.url() + "/metrics").text; };
  CHECK(shown().is_null());
  CHECK_THAT(scraped(), !Catch::Contains("navtalk_scaler_headroom"));
  Headroom headroom{.users = 1200, .bursts = 5, .at = store.now()};
  headroom.used = {.deviations = 3.5, .trust = 0.2, .shape = 0.5};
  store.set_setting(setting_name::k_headroom, as_text(headroom));
  CHECK(shown() == nlohmann::json::parse(R"({"deviations": 3.5, "shape": 0.5, "trust": 0.2,
                                             "users": 1200.0, "rushes": 5.0})"));
  for (const char* const line :
       {"navtalk_scaler_headroom_deviations 3.5\n", "navtalk_scaler_headroom_trust_ratio 0.2\n",
        "navtalk_scaler_headroom_users 1200\n", "navtalk_scaler_headroom_rushes 5\n"}) {
    CHECK_THAT(scraped(), Catch::Contains(line));
  }
  headroom.at = store.now() - 11min;  // static now, or no scaler any more
  store.set_setting(setting_name::k_headroom, as_text(headroom));
  CHECK(shown().is_null());
}

TEST_CASE("until there are keys, only this machine is served") {
  const TemporaryDirectory folder;
  const auto store = PoolStore::open("sqlite:" + (folder / "pool.db").native());
  Supply supply(*store, {});
  DemandTracker demand_tracker(*store);
  Allocator allocator(*store, supply, demand_tracker, {});
  CHECK_THROWS_WITH(Gateway(*store, allocator, {.listen = "0.0.0.0:0"}),
                    Catch::Contains("loopback only"));
  GatewayPool pool;
  CHECK(pool.operate("GET", "/v1/pool", "", {{"Origin", "https://example.org"}}).status == 403);
  CHECK(pool.operate("GET", "/v1/pool", "", {{"Host", "example.org"}}).status == 403);
  CHECK(pool.operate("GET", "/v1/pool", "", {{"Origin", "http://localhost:8000"}}).status == 200);
  CHECK(SocketClient(pool.url(), "/v1/realtime", {{"Origin", "https://example.org"}})
            .declined_status() == 403);
  // A name that begins like an address is still a name, and its owner's page no page of ours.
  for (const char* const evil : {"127.evil.com", "localhost.evil.com", "127.0.0.1.evil.com"}) {
    const std::string name = evil;
    CHECK(pool.operate("GET", "/v1/pool", "", {{"Host", name}}).status == 403);
    CHECK(pool.operate("GET", "/v1/pool", "", {{"Origin", "http://" + name}}).status == 403);
  }
}

TEST_CASE("a web page cannot register a worker, which would receive a token") {
  GatewayPool pool;
  const std::string body = R"({"url": "http://127.0.0.1:9"})";
  const std::string route = "/v1/pool/gpus";
  Headers evil = k_json;
  evil.emplace_back("Origin", "http://127.evil.com");
  CHECK(pool.operate("POST", route, body, evil).status == 403);
  // These a browser sends without asking first, and one that sends no Origin there may be.
  for (const char* const type : {"text/plain", "application/x-www-form-urlencoded", "",
                                 "multipart/form-data; boundary=application/json"}) {
    const Got refused = pool.operate("POST", route, body, {{"Content-Type", type}});
    CHECK(refused.status == 415);
    CHECK_THAT(refused.text, Catch::Contains("Content-Type: application/json"));
  }
  CHECK(pool.store().view().gpus.empty());
  CHECK(pool.operate("POST", route, body, {{"Content-Type", "application/json; charset=utf-8"}})
            .status == 201);
}
