// The JSON and the words that a worker and its pool share.
#include "scheduler/health/worker_health.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "scheduler/health/worker_protocol.h"

using namespace navtalk;

TEST_CASE("the health that a worker writes is what the pool reads") {
  const WorkerHealth written{
      .version = "1.2.3",
      .instance = "9f86",
      .state = "running",
      .device = "cuda:0",
      .gpu =
          WorkerHealth::Gpu{
              .name = "G", .vram_total = 100, .vram_used = 40, .util = 0.5, .temperature_c = 61},
      .slots = 2,
      .sessions = 1,
      .avatars = {"ada", "bob"},
      .lease_epochs = {17, 0},
      .uptime_s = 12.5};
  const std::optional<WorkerHealth> read = parse_worker_health(as_json(written).dump());
  REQUIRE(read);
  CHECK(as_json(*read) == as_json(written));
  CHECK(read->gpu->util == 0.5);
  CHECK(read->gpu->temperature_c == 61);
  CHECK(read->lease_epochs == std::vector<std::uint64_t>{17, 0});
  CHECK(as_json(written).at("protocol") == 1);
}

TEST_CASE("a load and a temperature that cannot be are unknown") {
  const auto gpu = [](const std::string& figures) {
    return parse_worker_health(R"({"state":"idle","slots":1,"gpu":{"name":"G",)" + figures + "}}")
        ->gpu.value();
  };
  CHECK(gpu(R"("util":1,"temperature_c":60.6)").util == 1);
  CHECK(gpu(R"("util":1,"temperature_c":60.6)").temperature_c == 61);
  for (const char* const odd :
       {R"("util":1.01,"temperature_c":201)", R"("util":-0.1)",
        R"("util":null,"temperature_c":1e300)", R"("temperature_c":"hot")"}) {
    INFO(odd);
    CHECK_FALSE(gpu(odd).util);
    CHECK_FALSE(gpu(odd).temperature_c);
  }
}

TEST_CASE("what a GPU says is a reading; what a CPU says, or what cannot be, is none") {
  const WorkerHealth::Gpu gpu{
      .vram_total = 100, .vram_used = 40, .util = 0.576, .temperature_c = 61};
  const auto reading = [](const std::string& device, const std::optional<WorkerHealth::Gpu>& said) {
    return reading_of({.device = device, .gpu = said});
  };
  CHECK(
      reading("cuda:1", gpu) ==
      GpuReading{.memory_used = 40, .memory_total = 100, .load_percent = 58, .temperature_c = 61});
  CHECK(reading("cuda:1", WorkerHealth::Gpu{.vram_total = 100, .vram_used = 100}) ==
        GpuReading{.memory_used = 100, .memory_total = 100});
  CHECK_FALSE(reading("cpu", gpu));
  CHECK_FALSE(reading("cuda:0", std::nullopt));
  CHECK_FALSE(reading("cuda:0", WorkerHealth::Gpu{.util = 0.5, .temperature_c = 61}));
  CHECK_FALSE(reading("cuda:0", WorkerHealth::Gpu{.vram_total = 100, .vram_used = 101}));
}

TEST_CASE("a worker's odd or missing health fields do not hide the rest") {
  const auto health = parse_worker_health(
      R"({"state":"running","slots":"2","sessions":null,"gpu":{},"device":5,"avatars":[1,"a"],
          "lease_epochs":[9,-1,"x"],"uptime_s":"12.5","new":[[]]})");
  REQUIRE(health);
  CHECK(health->slots == 2);
  CHECK(health->sessions == 0);
  CHECK_FALSE(health->gpu);
  CHECK(health->device.empty());
  CHECK(health->avatars == std::vector<std::string>{"a"});
  CHECK(health->lease_epochs == std::vector<std::uint64_t>{9, 0, 0});
  CHECK(health->uptime_s == 12.5);
  CHECK(parse_worker_health(R"({"state":"x","slots":-4})")->slots == 0);
  CHECK(parse_worker_health(R"({"state":"x","slots":1e12})")->slots == 1'000'000);
}

TEST_CASE("only the major version of the worker protocol counts") {
  for (const char* const value : {"1", "1.0", "1.7"}) CHECK(is_worker_protocol(value));
  for (const char* const value : {"", "2", "10", "x", "1x", " 1", "-1"}) {
    INFO(value);
    CHECK_FALSE(is_worker_protocol(value));
  }
}
