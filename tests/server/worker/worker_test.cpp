// The worker's life and its models, over real connections.
#include "server/worker/worker.h"

#include <catch2/catch.hpp>
#include <ctime>

#include "tests/server/worker/running_worker.h"

using namespace navtalk;
using namespace navtalk::tests;

TEST_CASE("a worker answers while it loads, and says so") {
  EngineScript script;
  script.hold_load = true;
  Running worker(script);
  const Got loading = ask("GET", worker.url() + "/healthz");
  CHECK(loading.status == 503);
  CHECK(loading.body.at("state") == "starting");
  CHECK(loading.body.at("error").at("code") == "starting");
  CHECK(SocketClient(worker.url(), session("a", 1)).declined_status() == 503);
  script.go.release();
  REQUIRE(worker.becomes("idle"));
  const Got ready = ask("GET", worker.url() + "/healthz");
  CHECK(ready.status == 200);
  CHECK(ready.body.at("slots") == 1);
  CHECK(ready.body.at("avatars") == nlohmann::json({"ada"}));
  CHECK(ready.body.at("gpu").at("vram_total") == 100);
  CHECK(ready.headers.find("x-navtalk-protocol")->second == "1");
}

TEST_CASE("a device's load and temperature are told where they are known, and left out where not") {
  EngineScript script;
  script.utilisation = 0.37;
  script.temperature = 61;
  {
    Running worker(script);
    REQUIRE(worker.becomes("idle"));
    const nlohmann::json gpu = ask("GET", worker.url() + "/healthz").body.at("gpu");
    CHECK(gpu.at("util") == 0.37);
    CHECK(gpu.at("temperature_c") == 61);
    const std::string metrics = ask("GET", worker.url() + "/metrics").text;
    for (const char* const line :
         {"navtalk_worker_memory_bytes 40\n", "navtalk_worker_memory_total_bytes 100\n",
          "navtalk_worker_gpu_load_ratio 0.37\n", "navtalk_worker_gpu_temperature_celsius 61\n"})
      CHECK_THAT(metrics, Catch::Contains(line));
  }
  EngineScript bare;
  Running worker(bare);
  REQUIRE(worker.becomes("idle"));
  const nlohmann::json gpu = ask("GET", worker.url() + "/healthz").body.at("gpu");
  CHECK(gpu.at("util").is_null());
  CHECK(gpu.at("temperature_c").is_null());
  CHECK_THAT(ask("GET", worker.url() + "/metrics").text, !Catch::Contains("navtalk_worker_gpu_"));
}

TEST_CASE("a worker that cannot load ends with the reason") {
  EngineScript script;
  script.fail_load = true;
  Running worker(script);
  CHECK_THROWS_WITH(worker.ends(), "the weights are broken");
}

TEST_CASE("every worker has an instance of its own, and keeps it") {
  EngineScript script;
  Running one(script), other(script);
  const auto instance = [](const Running& worker) {
    return ask("GET", worker.url() + "/healthz").body.at("instance").get<std::string>();
  };
  CHECK(instance(one).size() == 32);
  CHECK(instance(one) == instance(one));
  CHECK(instance(one) != instance(other));
}

TEST_CASE("pause takes the weights off the device and wake puts them back, not under a session") {
  EngineScript script;
  Running worker(script);
  REQUIRE(worker.becomes("idle"));
  {
    SocketClient client(worker.url(), session("a", 1));
    CHECK(ask("POST", worker.url() + "/v1/pause").status == 409);
  }
  REQUIRE(worker.becomes("idle"));
  CHECK(ask("POST", worker.url() + "/v1/pause").status == 200);
  CHECK(script.unloads == 1);
  const Got paused = ask("GET", worker.url() + "/healthz");
  CHECK(paused.status == 200);
  CHECK(paused.body.at("state") == "paused");
  CHECK(SocketClient(worker.url(), session("a", 2)).declined_status() == 503);
  CHECK(ask("POST", worker.url() + "/v1/pause").status == 200);
  CHECK(script.unloads == 1);  // done already
  CHECK(ask("POST", worker.url() + "/v1/wake").status == 200);
  CHECK(script.loads == 2);
  CHECK(ask("POST", worker.url() + "/v1/wake").status == 200);
  CHECK(script.loads == 2);
  CHECK(SocketClient(worker.url(), session("a", 3)).connected());
}

TEST_CASE("a pause keeps the weights in host memory where the engine can, and both are timed") {
  EngineScript script;
  script.moves_weights = true;
  Running worker(script);
  REQUIRE(worker.becomes("idle"));
  const auto metrics = [&] { return ask("GET", worker.url() + "/metrics").text; };
  CHECK_THAT(metrics(), !Catch::Contains("navtalk_worker_pause_seconds"));
  for (int i = 1; i <= 2; ++i) {
    CHECK(ask("POST", worker.url() + "/v1/pause").body.at("state") == "paused");
    CHECK(script.pauses == i);
    CHECK(ask("POST", worker.url() + "/v1/wake").body.at("state") == "idle");
    CHECK(script.wakes == i);
  }
  CHECK(script.unloads == 0);
  CHECK(script.loads == 1);
  const std::string told = metrics();
  for (const std::string name : {"pause", "wake"}) {
    const std::string line = "\nnavtalk_worker_" + name + "_seconds ";
    const std::size_t at = told.find(line);
    REQUIRE(at != std::string::npos);
    const double seconds = std::stod(told.substr(at + line.size()));  // a fast one is told as 5e-05
    CHECK(seconds >= 0);
    CHECK(seconds < 10);
  }
}

TEST_CASE("weights that find no room in host memory are unloaded, and loaded by the wake") {
  EngineScript script;
  script.moves_weights = true;
  Running worker(script);
  REQUIRE(worker.becomes("idle"));
  CHECK(ask("POST", worker.url() + "/v1/pause").status == 200);
  CHECK(ask("POST", worker.url() + "/v1/wake").status == 200);
  script.fail_pause = true;
  CHECK(ask("POST", worker.url() + "/v1/pause").body.at("state") == "paused");
  CHECK(script.unloads == 1);
  CHECK(ask("POST", worker.url() + "/v1/wake").body.at("state") == "idle");
  CHECK(script.wakes == 1);
  CHECK(script.loads == 2);
}

TEST_CASE("a wake without memory for the weights fails the worker, by name") {
  EngineScript script;
  script.moves_weights = true;
  script.wakes_without_memory = 1;
  Running worker(script);
  REQUIRE(worker.becomes("idle"));
  CHECK(ask("POST", worker.url() + "/v1/pause").status == 200);
  const Got wake = ask("POST", worker.url() + "/v1/wake");
  CHECK(wake.status == 503);
  CHECK(wake.body.at("error").at("code") == "failed");
  CHECK(wake.body.at("error").at("message") == "the device is full");
}

TEST_CASE("a wake without memory lets the CPU draw, where it may") {
  EngineScript script;
  script.device = "cuda:0";
  script.moves_weights = true;
  script.wakes_without_memory = 1;
  script.cpu_rate = 15;
  Running worker(script);
  REQUIRE(worker.becomes("idle"));
  CHECK(ask("POST", worker.url() + "/v1/pause").status == 200);
  CHECK(ask("POST", worker.url() + "/v1/wake").body.at("device") == "cpu");
}

TEST_CASE("a wake may take longer than a stuck loop, and succeeds") {
  EngineScript script;
  Running worker(script, {.stuck_after = 2s});
  REQUIRE(worker.becomes("idle"));
  CHECK(ask("POST", worker.url() + "/v1/pause").status == 200);
  script.load_takes = 3s;
  const Got wake = ask("POST", worker.url() + "/v1/wake");
  CHECK(wake.status == 200);
  CHECK(wake.body.at("state") == "idle");
}

TEST_CASE("a wake that fails is an error, and the worker stays failed") {
  EngineScript script;
  Running worker(script);
  REQUIRE(worker.becomes("idle"));
  CHECK(ask("POST", worker.url() + "/v1/pause").status == 200);
  script.fail_load = true;
  const Got wake = ask("POST", worker.url() + "/v1/wake");
  CHECK(wake.status == 503);
  CHECK(wake.body.at("error").at("message") == "the weights are broken");
  CHECK(ask("GET", worker.url() + "/healthz").body.at("state") == "failed");
}

TEST_CASE("health is that of the work loop, not of the HTTP server") {
  EngineScript script;
  Running worker(script, {.stuck_after = 600ms});
  REQUIRE(worker.becomes("idle"));
  script.hold_use = true;  // the device does not answer
  REQUIRE(worker.becomes("stuck"));
  CHECK(ask("GET", worker.url() + "/healthz").status == 503);
  CHECK(SocketClient(worker.url(), session("a", 1)).declined_status() == 503);
  script.hold_use = false;
  script.go.release();
  CHECK(worker.becomes("idle"));
}

TEST_CASE("a worker that loads an avatar takes sessions with others meanwhile") {
  EngineScript script;
  Running worker(script, {.slots = 2});
  REQUIRE(worker.becomes("idle"));
  script.hold_prepare = true;
  auto prepared = std::async(std::launch::async, [&] {
    return ask("POST", worker.url() + "/v1/prepare", R"({"avatar":"bob"})", k_json).status;
  });
  for (int epoch = 1; epoch <= 3; ++epoch) {
    SocketClient client(worker.url(), session("a", epoch));
    client.send(R"({"type":"session.start"})");
    CHECK(client.receive_json().at("type") == "session.ready");
  }
  script.hold_prepare = false;
  script.go.release();
  CHECK(prepared.get() == 200);
}

TEST_CASE(
    "a drain tells the sessions, accepts no new ones, ends within its notice, and can be "
    "cancelled") {
  EngineScript script;
  Running worker(script, {.slots = 2});
  REQUIRE(worker.becomes("idle"));
  SocketClient client(worker.url(), session("a", 1));
  // Its answer shows that the session is there.
  client.send(R"({"type":"session.start"})");
  CHECK(client.receive_json().at("type") == "session.ready");
  const Got drain = ask("POST", worker.url() + "/v1/drain", R"({"notice_s": 0.3})", k_json);
  CHECK(drain.status == 202);
  CHECK(drain.body.at("sessions") == 1);
  CHECK(client.receive_json() == nlohmann::json({{"type", "session.draining"}, {"notice_s", 0.3}}));
  CHECK(SocketClient(worker.url(), session("b", 2)).declined_status() == 503);
  CHECK(client.receive_json().at("code") == "drained");
  CHECK(client.close_code() == 1001);
  REQUIRE(worker.becomes("stopping"));
  CHECK(ask("POST", worker.url() + "/v1/wake").status == 200);
  CHECK(worker.becomes("idle"));
  CHECK(ask("POST", worker.url() + "/v1/drain", R"({"notice_s": -1})", k_json).status == 400);
  CHECK(ask("POST", worker.url() + "/v1/drain", R"({"notice_s": "soon"})", k_json).status == 400);
}

TEST_CASE("a drain that is undone is told to the sessions that it was told to, once") {
  EngineScript script;
  Running worker(script, {.slots = 2});
  REQUIRE(worker.becomes("idle"));
  SocketClient client(worker.url(), session("a", 1));
  client.send(R"({"type":"session.start"})");
  CHECK(client.receive_json().at("type") == "session.ready");
  REQUIRE(ask("POST", worker.url() + "/v1/drain", R"({"notice_s": 300})", k_json).status == 202);
  CHECK(client.receive_json().at("type") == "session.draining");
  for (int times = 0; times < 2; ++times)
    REQUIRE(ask("POST", worker.url() + "/v1/wake").status == 200);
  CHECK(client.receive_json() == nlohmann::json({{"type", "session.undrained"}}));
  client.send(R"({"type":"nonsense"})");  // the next frame is its answer
  CHECK(client.receive_json().at("code") == "usage");
}

TEST_CASE("prepare loads an avatar, or answers 404") {
  EngineScript script;
  Running worker(script);
  REQUIRE(worker.becomes("idle"));
  CHECK(ask("POST", worker.url() + "/v1/prepare", R"({"avatar":"bob"})", k_json).body.at("width") ==
        640);
  CHECK(ask("POST", worker.url() + "/v1/prepare", R"({"avatar":"nobody"})", k_json).status == 404);
  CHECK(ask("POST", worker.url() + "/v1/prepare", "{}", k_json).status == 400);
}

TEST_CASE("only requests with the token and of this protocol version are answered") {
  EngineScript script;
  Running worker(script, {.token = "sesame"});
  CHECK(ask("GET", worker.url() + "/healthz").status == 401);
  CHECK(ask("GET", worker.url() + "/metrics", "", {{"Authorization", "Bearer open"}}).status ==
        401);
  const Headers good = {{"Authorization", "Bearer sesame"}};
  REQUIRE(
      eventually([&] { return ask("GET", worker.url() + "/healthz", "", good).status == 200; }));
  for (const auto& [version, status] : std::vector<std::pair<std::string, int>>{
           {"1", 200}, {"1.7", 200}, {"2", 426}, {"10", 426}, {"x", 426}}) {
    Headers headers = good;
    headers.emplace_back("X-Navtalk-Protocol", version);
    CHECK(ask("GET", worker.url() + "/healthz", "", headers).status == status);
  }
  const Headers other = {{"Authorization", "Bearer sesame"}, {"X-Navtalk-Protocol", "2"}};
  CHECK(SocketClient(worker.url(), session("a", 1), other).declined_status() == 426);
}

TEST_CASE("without a token a worker listens on loopback only") {
  EngineScript script;
  CHECK_THROWS_WITH(Worker({.listen = "0.0.0.0:0"}, engine_of(script)),
                    Catch::Contains("needs a token"));
}

TEST_CASE("a worker that no gateway speaks to ends by itself, but not during a session") {
  EngineScript script;
  Running worker(script, {.gateway_timeout = 3s});
  REQUIRE(worker.becomes("idle"));
  {
    SocketClient client(worker.url(), session("a", 1));
    client.send(R"({"type":"session.start"})");
    CHECK(client.receive_json().at("type") == "session.ready");
  }
  CHECK(worker.ends());
}

TEST_CASE("a worker that no gateway ever spoke to ends after its first-contact time") {
  EngineScript script;
  Running worker(script, {.gateway_timeout = 20s, .first_contact = 300ms});
  CHECK(worker.ends());
}

TEST_CASE("a stop gives sessions their notice and ends") {
  EngineScript script;
  Running worker(script, {.stop_notice = 200ms});
  REQUIRE(worker.becomes("idle"));
  SocketClient client(worker.url(), session("a", 1));
  // Its answer shows that the session is there.
  client.send(R"({"type":"session.start"})");
  CHECK(client.receive_json().at("type") == "session.ready");
  worker.stop();
  CHECK(client.receive_json().at("type") == "session.draining");
  CHECK(client.receive_json().at("code") == "drained");
  CHECK(client.close_code() == 1001);
  CHECK(worker.ends());
}

TEST_CASE("drains that wait for the same session compute nothing, and the first one ends it") {
  EngineScript script;
  Running worker(script, {.stop_notice = 1s});
  REQUIRE(worker.becomes("idle"));
  SocketClient client(worker.url(), session("a", 1));
  client.send(R"({"type":"session.start"})");
  REQUIRE(client.receive_json().at("type") == "session.ready");
  for (const char* const body : {R"({"notice_s":300})", R"({"notice_s":400})"}) {
    REQUIRE(ask("POST", worker.url() + "/v1/drain", body, k_json).status == 202);
    CHECK(client.receive_json().at("type") == "session.draining");
  }
  worker.stop();
  CHECK(client.receive_json().at("type") == "session.draining");
  const std::clock_t before = std::clock();
  CHECK(client.receive_json().at("code") == "drained");
  CHECK(static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC < 0.3);
  CHECK(client.close_code() == 1001);
  CHECK(worker.ends());
}

TEST_CASE("a wake undoes a drain for good, also when another one begins") {
  using Clock = std::chrono::steady_clock;
  EngineScript script;
  Running worker(script);
  REQUIRE(worker.becomes("idle"));
  const auto drain = [&](const char* body) {
    const auto began = Clock::now();
    REQUIRE(ask("POST", worker.url() + "/v1/drain", body, k_json).status == 202);
    return began;
  };
  for (int epoch = 1;; ++epoch) {
    REQUIRE(epoch < 20);
    SocketClient client(worker.url(), session("a", epoch));
    client.send(R"({"type":"session.start"})");
    REQUIRE(client.receive_json().at("type") == "session.ready");
    const auto undone = drain(R"({"notice_s":0.3})");
    REQUIRE(ask("POST", worker.url() + "/v1/wake", "{}", k_json).status == 200);
    if (Clock::now() - undone >= 300ms) continue;  // perhaps too late
    const auto began = drain(R"({"notice_s":0.6})");
    CHECK(client.receive_type("error").at("code") == "drained");
    CHECK(Clock::now() - began >= 600ms);
    break;
  }
}

TEST_CASE("a stop does not wait for a peer that answers nothing") {
  EngineScript script;
  Running worker(script, {.stop_notice = 200ms});
  REQUIRE(worker.becomes("idle"));
  RawClient client(worker.url());
  client.send("GET " + session("a", 1) +
              " HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
              "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n");
  REQUIRE_THAT(client.receive_until("\r\n\r\n"), Catch::Contains(" 101 "));
  worker.stop();
  CHECK(worker.ends());
}
