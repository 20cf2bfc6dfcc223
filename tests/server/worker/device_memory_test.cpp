// A worker whose device has little memory, over real connections.
#include <catch2/catch.hpp>

#include "tests/server/worker/running_worker.h"

using namespace navtalk;
using namespace navtalk::tests;

namespace {

// A device of 1000 bytes. Its worker begins with what others have.
struct SmallDevice {
  explicit SmallDevice(std::uint64_t others) {
    memory->note({.total = 1000, .used = others});
    script.budget = DeviceBudget{.memory = memory,
                                 .frames_limit = [] { return 200; },
                                 .keep_frames = [](std::uint64_t) {},
                                 .of_process = [] { return 0; }};
    script.device_frames = 100;
    script.device_pictures = 50;
  }
  bool reserves(std::uint64_t sessions) const {
    return eventually([&] { return memory->ledger().of(MemoryUser::sessions) == sessions; });
  }

  std::shared_ptr<MemoryBudget> memory = std::make_shared<MemoryBudget>();
  EngineScript script;
};

const std::string k_start = R"({"type":"session.start","avatar":"bob"})";

}  // namespace

TEST_CASE("a session without room on the device is refused, and takes no memory") {
  SmallDevice device(801);
  Running worker(device.script, {.slots = 2});
  REQUIRE(worker.becomes("idle"));
  {
    SocketClient client(worker.url(), session("a", 1));
    client.send(k_start);
    const auto error = client.receive_json();
    CHECK(error.at("type") == "error");
    CHECK(error.at("code") == "memory");
    CHECK(error.at("message") == "this worker has no memory for another session now");
    CHECK(client.close_code() == 1013);
  }
  REQUIRE(worker.becomes("idle"));
  CHECK(device.reserves(0));
  CHECK_THAT(ask("GET", worker.url() + "/metrics").text,
             Catch::Contains("navtalk_worker_refused_total 1"));
  device.memory->note({.total = 1000, .used = 800});
  SocketClient next(worker.url(), session("b", 2));
  next.send(k_start);
  CHECK(next.receive_json().at("type") == "session.ready");
}

TEST_CASE("what a session has reserved is told, and free when it ends, however it ends") {
  SmallDevice device(0);
  Running worker(device.script, {.slots = 2});
  REQUIRE(worker.becomes("idle"));
  {
    SocketClient client(worker.url(), session("a", 1));
    client.send(k_start);
    REQUIRE(client.receive_json().at("type") == "session.ready");
    CHECK(device.reserves(50));
    const std::string metrics = ask("GET", worker.url() + "/metrics").text;
    CHECK_THAT(metrics,
               Catch::Contains(R"(navtalk_worker_memory_reserved_bytes{for="sessions"} 50)"));
    CHECK_THAT(metrics,
               Catch::Contains(R"(navtalk_worker_memory_reserved_bytes{for="avatars"} 100)"));
    CHECK_THAT(metrics, Catch::Contains("navtalk_worker_memory_limit_bytes 950"));
    CHECK_THAT(metrics, Catch::Contains("navtalk_worker_out_of_memory_total 0"));
    CHECK_THAT(metrics, Catch::Contains("navtalk_worker_batches_halved_total 0"));
    CHECK_THAT(metrics, Catch::Contains("navtalk_worker_largest_batch 8"));
    const auto memory = ask("GET", worker.url() + "/healthz").body.at("memory");
    CHECK(memory.at("reserved") == 150);
    CHECK(memory.at("limit") == 950);
    CHECK(memory.at("out_of_memory") == 0);
    CHECK(memory.at("batches_halved") == 0);
    client.send(R"({"type":"session.end"})");
    CHECK(client.close_code() == 1000);
  }
  CHECK(device.reserves(0));
  SocketClient gone(worker.url(), session("b", 2));
  gone.send(k_start);
  REQUIRE(gone.receive_json().at("type") == "session.ready");
  CHECK(device.reserves(50));
  gone.vanish();
  CHECK(device.reserves(0));
  REQUIRE(worker.becomes("idle"));
  REQUIRE(ask("POST", worker.url() + "/v1/pause").status == 200);
  CHECK(device.memory->ledger().all_reserved() == 0);
}

TEST_CASE("a session that asks for larger pictures than its avatar's reserves more") {
  SmallDevice device(0);
  device.script.device_shown = 10;
  Running worker(device.script, {.slots = 2});
  REQUIRE(worker.becomes("idle"));
  SocketClient client(worker.url(), session("a", 1));
  client.send(R"({"type":"session.start","avatar":"bob","video":{"width":1280}})");
  REQUIRE(client.receive_json().at("type") == "session.ready");
  CHECK(device.reserves(50 + 4 * 10));
}

TEST_CASE("a worker whose device is full answers before a session begins") {
  SmallDevice device(951);
  Running worker(device.script, {.slots = 2});
  REQUIRE(worker.becomes("idle"));
  SocketClient client(worker.url(), session("a", 1));
  CHECK_FALSE(client.connected());
  CHECK(worker.sessions() == 0);
  CHECK(client.declined_status() == 503);
}

TEST_CASE("a worker on the CPU tells nothing of reserved memory") {
  EngineScript script;
  Running worker(script);
  REQUIRE(worker.becomes("idle"));
  CHECK_FALSE(ask("GET", worker.url() + "/healthz").body.contains("memory"));
  CHECK_THAT(ask("GET", worker.url() + "/metrics").text, !Catch::Contains("memory_reserved"));
}

TEST_CASE("a worker whose device has no memory for the nets draws on the CPU, and says so") {
  EngineScript script;
  script.device = "cuda:0";
  script.loads_without_memory = 1;
  script.cpu_rate = 15;
  Running worker(script);
  REQUIRE(worker.becomes("idle"));
  CHECK(ask("GET", worker.url() + "/healthz").body.at("device") == "cpu");
  CHECK_THAT(ask("GET", worker.url() + "/metrics").text,
             Catch::Contains("navtalk_worker_cpu_fallbacks_total 1"));
  SocketClient client(worker.url(), session("a", 1));
  client.send(k_start);
  CHECK(client.receive_json().at("type") == "session.ready");
}

TEST_CASE("nets that were loaded on the CPU come back to the device that has memory again") {
  EngineScript script;
  script.device = "cuda:0";
  script.loads_without_memory = 1;
  script.cpu_rate = 15;
  Running worker(script);
  REQUIRE(worker.becomes("idle"));
  REQUIRE(ask("POST", worker.url() + "/v1/pause").status == 200);
  REQUIRE(ask("POST", worker.url() + "/v1/wake").status == 200);
  CHECK(ask("GET", worker.url() + "/healthz").body.at("device") == "cuda:0");
}

TEST_CASE("a CPU that is too slow for a live session does not stand in for the device") {
  EngineScript script;
  script.loads_without_memory = 1;
  script.cpu_rate = 14.9;
  Running worker(script);
  CHECK_THROWS_WITH(worker.ends(),
                    "the device is full; on the CPU the nets draw 14.9 pictures a "
                    "second, and a live session needs 15");
}

TEST_CASE("a worker that is to use its device only ends where that has no memory") {
  EngineScript script;
  script.loads_without_memory = 1;
  Running worker(script);
  CHECK_THROWS_WITH(worker.ends(), "the device is full");
}

TEST_CASE("a worker whose device is gone when it is to wake ends") {
  EngineScript script;
  script.device = "cuda:0";
  Running worker(script);
  REQUIRE(worker.becomes("idle"));
  REQUIRE(ask("POST", worker.url() + "/v1/pause").status == 200);
  script.lose_device = true;
  ask("POST", worker.url() + "/v1/wake");
  CHECK_THROWS_AS(worker.ends(), DeviceLost);
}

TEST_CASE("a worker whose device is gone when it is to pause ends, and touches nothing there") {
  EngineScript script;
  script.device = "cuda:0";
  script.moves_weights = true;
  Running worker(script);
  REQUIRE(worker.becomes("idle"));
  SECTION("while the weights are moved") { script.lose_in_pause = true; }
  SECTION("while the nets are unloaded") {
    script.moves_weights = false;
    script.lose_in_unload = true;
  }
  ask("POST", worker.url() + "/v1/pause");
  CHECK_THROWS_AS(worker.ends(), DeviceLost);
  CHECK(script.unloads == 0);
}

TEST_CASE("a worker whose device is gone when its load is read ends") {
  EngineScript script;
  script.device = "cuda:0";
  Running worker(script);
  REQUIRE(worker.becomes("idle"));
  script.lose_in_use = true;
  CHECK_THROWS_AS(worker.ends(), DeviceLost);
}
