#include "scheduler/service/pool_report.h"

#include <nlohmann/json.hpp>

#include "tests/scheduler/small_pool.h"

#include <catch2/catch.hpp>

using namespace navtalk;
using namespace navtalk::tests;
using namespace std::chrono_literals;

namespace {

constexpr TimePoint k_now{24h};

std::vector<TimePoint> ticks_every(Duration pause, int count, Duration last_ago) {
  std::vector<TimePoint> ticks;
  for (int i = count - 1; i >= 0; --i) ticks.push_back(k_now - last_ago - i * pause);
  return ticks;
}

Gpu local_gpu(SmallPool& pool, const std::string& host) {
  Gpu gpu = new_gpu(pool.identity, Source::local);
  gpu.state = State::idle;
  gpu.slots = 3;
  gpu.host = host;
  return pool.add(gpu);
}

void record_ticks(PoolStore& store, Duration last_ago) {
  for (int i = 3; i >= 0; --i) store.record(Decision{.at = store.now() - last_ago - i * 5s});
}

}  // namespace

TEST_CASE("ticks are overdue by how often they came, and never within a minute") {
  CHECK(ticks_are_overdue({}, k_now));
  CHECK_FALSE(ticks_are_overdue(ticks_every(5s, 100, 50s), k_now));
  CHECK(ticks_are_overdue(ticks_every(5s, 100, 61s), k_now));
  CHECK_FALSE(ticks_are_overdue(ticks_every(1min, 30, 61s), k_now));  // cron
  CHECK_FALSE(ticks_are_overdue(ticks_every(1min, 30, 3min), k_now));
  CHECK(ticks_are_overdue(ticks_every(1min, 30, 4min), k_now));
  CHECK_FALSE(ticks_are_overdue(ticks_every(15min, 3, 20min), k_now));
  CHECK_FALSE(ticks_are_overdue(ticks_every(1min, 1, 30min), k_now));
  // A gateway for most of the hour, then a timer.
  std::vector<TimePoint> both = ticks_every(5s, 500, 6min);
  for (const TimePoint tick : ticks_every(1min, 5, 100s)) both.push_back(tick);
  CHECK_FALSE(ticks_are_overdue(both, k_now));
}

TEST_CASE("rows of a host that is gone are unsupervised, and their slots free for nobody") {
  SmallPool pool;
  const Gpu here = local_gpu(pool, "here"), gone = local_gpu(pool, "gone");
  const Gpu pod = pool.pod(State::idle, "pod-1");
  register_host(*pool.store, {.name = "here", .devices = {"cpu"}}, 1min);
  register_host(*pool.store, {.name = "gone", .devices = {"cpu"}}, 0min);
  const PoolReport report = report_pool(*pool.store);
  CHECK(supervised(report, here));
  CHECK_FALSE(supervised(report, gone));
  CHECK(supervised(report, pod));
  CHECK(report.totals.slots == 7);
  CHECK(report.totals.free_slots == 4);
  CHECK(as_json(report, gone).at("supervised") == false);
  CHECK(as_json(report, here).at("supervised") == true);
}

TEST_CASE("a report has a GPU's reading while it holds, and none otherwise") {
  SmallPool pool;
  const Gpu gpu = pool.pod(State::idle, "pod-1");
  const auto shown = [&](const Gpu& of) {
    return as_json(report_pool(*pool.store), pool.row(of)).at("gpu");
  };
  const auto read = [&](const GpuReading& reading, Duration ago) {
    pool.store->seen({{gpu.id, reading}}, pool.store->now() - ago);
  };
  const GpuReading reading{
      .memory_used = 5, .memory_total = 9, .load_percent = 42, .temperature_c = 61};
  CHECK(shown(gpu).is_null());  // it has said nothing yet, or is a CPU
  read(reading, 40s);
  CHECK(shown(gpu).is_null());
  read(reading, 20s);
  nlohmann::json now = shown(gpu);
  CHECK(now.at("at").get<std::string>().ends_with("Z"));
  now.erase("at");
  CHECK(now ==
        nlohmann::json::parse(R"({"vram_total":9,"vram_used":5,"util":0.42,"temperature_c":61})"));
  read({.memory_used = 5, .memory_total = 9}, 10s);
  CHECK(shown(gpu).at("util").is_null());
  CHECK(shown(gpu).at("temperature_c").is_null());

  SECTION("not of one that is silent") {
    for (int i = 0; i < 3; ++i) {
      CHECK(shown(gpu).is_object());
      pool.store->missed({{gpu.id, "silent"}}, pool.store->now());
    }
    CHECK(shown(gpu).is_null());
  }
  SECTION("not of one that failed") {
    REQUIRE(pool.store->change(
        {.id = gpu.id, .version = pool.row(gpu).version, .event = Event::fail}, {"test", "now"}));
    CHECK(shown(gpu).is_null());
  }
}

TEST_CASE("a report says when the scaler has stopped ticking") {
  SmallPool pool;
  const auto totals = [&] { return as_json(report_pool(*pool.store)).at("totals"); };
  CHECK(totals().at("stale") == false);  // an empty pool has nothing to be out of date
  CHECK(totals().at("last_tick").is_null());
  pool.pod(State::idle, "pod-1");
  CHECK(totals().at("stale") == true);
  record_ticks(*pool.store, 82s);
  CHECK(totals().at("stale") == true);
  CHECK(totals().at("last_tick").is_string());
  record_ticks(*pool.store, 0s);
  CHECK(totals().at("stale") == false);
}

TEST_CASE("a report shows what the timetable says, until its time is over") {
  SmallPool pool;
  const auto totals = [&] { return as_json(report_pool(*pool.store)).at("totals"); };
  CHECK(totals().at("schedule").is_null());
  CHECK(totals().at("maintenance").empty());
  const TimePoint now = Timetable::system_clock_now();
  const TimePoint distant(std::chrono::sys_days(std::chrono::year(2100) / 1 / 1));
  k_timetable_state.write(*pool.store, {ActiveEntry{"office", distant}, {{"updates", distant}}});
  CHECK(totals().at("schedule").at("name") == "office");
  CHECK(totals().at("schedule").at("until") == "2100-01-01T00:00:00.000Z");
  CHECK(totals().at("maintenance").at(0).at("name") == "updates");
  k_timetable_state.write(*pool.store, {ActiveEntry{"office", now}, {{"updates", now}}});
  CHECK(totals().at("schedule").is_null());
  CHECK(totals().at("maintenance").empty());
}
