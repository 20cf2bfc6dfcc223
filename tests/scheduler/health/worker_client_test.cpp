#include "scheduler/health/worker_client.h"

#include <catch2/catch.hpp>
#include <future>
#include <latch>

#include "scheduler/health/worker_health.h"
#include "tests/core/expect_error.h"
#include "tests/fakes/fake_worker.h"
#include "tests/scheduler/health/handshake.h"

using namespace navtalk;
using namespace std::chrono_literals;
using tests::Connection;
using tests::FakeWorker;
using tests::LoopbackServer;
using tests::ReceivedRequest;

namespace {

struct Scene {
  FakeWorker worker{};
  LoopbackServer server{
      [this](Connection& c, const ReceivedRequest& request) { worker.handle(c, request); }};
  WorkerClient client{"token"};

  explicit Scene(FakeWorker::Script script = {}) {
    script.token = "token";
    worker.set(std::move(script));
  }
};

const WorkerFault& fault_in(const WorkerAnswer& answer) {
  REQUIRE(std::holds_alternative<WorkerFault>(answer));
  return std::get<WorkerFault>(answer);
}

// A server that gives every request this answer.
LoopbackServer saying(int status, const std::string& body) {
  return LoopbackServer(
      [=](Connection& client, const ReceivedRequest&) { client.answer(status, body); });
}

using Kind = WorkerFault::Kind;

}  // namespace

TEST_CASE("a worker's health is read with everything that it reports") {
  Scene scene({.slots = 3, .epoch = 7});
  const std::string slash = GENERATE("", "/");
  const WorkerAnswer answer = scene.client.health(scene.server.url(slash));
  REQUIRE(std::holds_alternative<WorkerHealth>(answer));
  const auto& health = std::get<WorkerHealth>(answer);
  CHECK(health.version == "0.1.0");
  CHECK(health.state == "idle");
  CHECK(health.device == "cuda:0");
  REQUIRE(health.gpu);
  CHECK(health.gpu->name == "Fake GPU");
  CHECK(health.gpu->vram_total == 1 << 30);
  CHECK(health.gpu->vram_used == 1 << 20);
  CHECK(health.gpu->util == 0.5);
  CHECK(health.slots == 3);
  CHECK(health.avatars == std::vector<std::string>{"ada"});
  CHECK(health.lease_epochs == std::vector<std::uint64_t>{7});
  CHECK(health.uptime_s == 3.5);
  const ReceivedRequest asked = scene.worker.requests().back();
  CHECK(asked.path == "/healthz");
  CHECK(asked.header("x-navtalk-protocol") == "1");
  CHECK(asked.header("authorization") == "Bearer token");
}

TEST_CASE("a worker's health is taken only from a worker") {
  WorkerClient client("token");
  const auto [status, body, kind] = GENERATE(table<int, std::string, Kind>({
      {200, "ok", Kind::not_worker},
      {200, "{}", Kind::not_worker},
      {200, R"({"state":"idle"})", Kind::not_worker},
      {200, R"([{"state":"idle","slots":1}])", Kind::not_worker},
      {404, "<html>", Kind::not_worker},
      {502, "error code: 502", Kind::not_worker},
      {524, "", Kind::not_worker},
      {503, "<html>", Kind::not_worker},
      {503, R"({"error":{"code":"failed","message":"stuck"}})", Kind::sick},
      {503, R"({"state":"idle","slots":1})", Kind::sick},
      {401, R"({"error":{"message":"no"}})", Kind::denied},
      {403, R"({"error":{"message":"no"}})", Kind::denied},
      {426, R"({"error":{"message":"protocol 2"}})", Kind::protocol},
      {500, R"({"error":{"message":"no"}})", Kind::failed},
  }));
  const LoopbackServer server = saying(status, body);
  CAPTURE(status, body);
  const WorkerFault fault = fault_in(client.health(server.url()));
  CHECK(fault.kind == kind);
  CHECK_THAT(fault.message, Catch::StartsWith("127.0.0.1:"));
}

TEST_CASE("a URL without a server refuses, and a silent server is unreachable") {
  const std::string url = saying(200, "").url();
  WorkerClient client("token", {.timeout = 200ms});
  CHECK(fault_in(client.health(url)).kind == Kind::refused);

  const LoopbackServer silent([](Connection& c, const ReceivedRequest&) { c.hold(); });
  CHECK(fault_in(client.health(silent.url())).kind == Kind::unreachable);
}

TEST_CASE("a stop request ends a request to a worker") {
  std::latch received(1);
  const LoopbackServer silent([&](Connection& c, const ReceivedRequest&) {
    received.count_down();
    c.hold();
  });
  std::stop_source stop;
  auto answer = std::async(std::launch::async, [&] {
    return WorkerClient("token").health(silent.url(), stop.get_token());
  });
  received.wait();
  stop.request_stop();
  CHECK(fault_in(answer.get()).kind == Kind::stopped);
}

TEST_CASE("pause and wake reach a worker on their routes") {
  Scene scene;
  const std::string url = scene.server.url();
  CHECK_FALSE(scene.client.pause(url));
  CHECK_FALSE(scene.client.wake(url));
  std::vector<std::string> seen;
  for (const ReceivedRequest& request : scene.worker.requests()) {
    CHECK(request.method == "POST");
    CHECK(request.header("content-type") == "application/json");
    seen.push_back(request.path + " " + request.body);
  }
  CHECK(seen == std::vector<std::string>{"/v1/pause {}", "/v1/wake {}"});
}

TEST_CASE("a worker's refusals are distinguished by their status") {
  const auto [status, kind] = GENERATE(table<int, Kind>({{409, Kind::busy},
                                                         {404, Kind::failed},
                                                         {422, Kind::failed},
                                                         {503, Kind::sick},
                                                         {500, Kind::failed}}));
  Scene scene({.refuse = status});
  const auto fault = scene.client.pause(scene.server.url());
  REQUIRE(fault);
  CHECK(fault->kind == kind);
  CHECK_THAT(fault->message, Catch::Contains("refused by the script"));
}

TEST_CASE("another token or protocol is reported as that, without the token") {
  Scene scene;
  WorkerClient other("hidden");
  const WorkerFault fault = fault_in(other.health(scene.server.url()));
  CHECK(fault.kind == Kind::denied);
  CHECK_THAT(fault.message, !Catch::Contains("hidden"));
}

TEST_CASE("a WebSocket handshake proves that sessions reach the worker") {
  using Script = FakeWorker::Script;
  const auto [script, reached] = GENERATE(table<Script, bool>({
      {Script{}, true},
      {Script{.epoch = 5}, true},    // stale: refused in the worker's own words
      {Script{.full = true}, true},  // every slot taken, too
      {Script{.alive = false}, false},
      {Script{.broken_upgrade = true}, false},
  }));
  Scene scene(script);
  const auto fault = tests::handshake(scene.server.url(), "token", "a b/c", 1);
  CHECK(fault.has_value() != reached);
  const ReceivedRequest asked = scene.worker.requests().back();
  CHECK(asked.query.at("lease") == "a b/c");
  CHECK(asked.query.at("epoch") == "1");
}

TEST_CASE("a proxy that swallows the upgrade does not reach a worker") {
  const auto [status, body] = GENERATE(table<int, std::string>({
      {200, "{}"},
      {426, R"({"error":{"message":"this is a WebSocket"}})"},
      {404, R"({"error":{"message":"no such route"}})"},
      {409, "<html>"},
      {101, ""},
  }));
  const LoopbackServer server = saying(status, body);
  CHECK(tests::handshake(server.url(), "token"));
}

TEST_CASE("a healthy worker is ready only idle or running, with slots, and with its GPU") {
  const WorkerHealth good{
      .state = "idle", .gpu = WorkerHealth::Gpu{.name = "H", .vram_total = 1}, .slots = 1};
  CHECK_FALSE(why_unready(good, true));
  WorkerHealth worker = good;
  worker.state = "running";
  CHECK_FALSE(why_unready(worker, true));
  for (const char* state : {"starting", "paused", "failed", "stopping", "", "tomorrow's"}) {
    worker.state = state;
    CHECK(why_unready(worker, true));
  }
  worker = good;
  worker.slots = 0;
  CHECK(why_unready(worker, true));
  worker = good;
  worker.gpu->vram_total = 0;
  CHECK(why_unready(worker, true));
  worker.gpu.reset();
  CHECK(why_unready(worker, true));
  CHECK_FALSE(why_unready(worker, false));
}
