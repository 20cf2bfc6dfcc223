#include "scheduler/pool/schedule/timetable.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "scheduler/pool/drain_notices.h"
#include "scheduler/provision/operator_actions.h"
#include "scheduler/scaling/scaler.h"
#include "scheduler/service/pool_config.h"
#include "tests/scheduler/provision/scripted_provider.h"
#include "tests/scheduler/small_pool.h"

using namespace navtalk;
using namespace navtalk::tests;
using namespace std::chrono_literals;

namespace {

using std::chrono::sys_days;

ScalingLimits quick_limits(int min, int max) {
  ScalingLimits limits;
  limits.min_free = min;
  limits.max_free = max;
  limits.cloud = CloudSwitch::on;
  limits.hold_down = {};
  return limits;
}

// Monday, 23 November 2026, in Berlin.
TimePoint monday(std::chrono::minutes since_midnight) {
  return TimePoint(sys_days(std::chrono::year(2026) / 11 / 23) - 1h + since_midnight);
}

struct TimedPool {
  SmallPool pool;
  TimePoint wall = monday(7h);
  ScriptedProvider cloud{Source::cloud};
  DemandTracker demand_tracker{*pool.store};
  std::vector<ScheduledLimits> schedule{};
  std::vector<MaintenanceWindow> windows{};
  std::vector<Origin> clouds{Origin::runpod};
  ScalingLimits usual = quick_limits(0, 0);

  std::shared_ptr<const Timetable> timetable() {
    return std::make_shared<const Timetable>(
        usual, schedule, windows, [this] { return wall; }, clouds);
  }
  SupplyOptions supply_options() {
    return {.identity = pool.identity,
            .who = "test",
            .cloud = CloudSwitch::on,
            .timetable = timetable()};
  }
  Tick tick(bool dry = false) {
    Supply supply(*pool.store, supply_options());
    Scaler scaler(*pool.store, supply, demand_tracker, &cloud,
                  {.limits = usual, .timetable = timetable(), .owner = "one"});
    return dry ? scaler.dry_run() : scaler.tick();
  }
  void host(const std::string& name, std::vector<std::string> devices) {
    register_host(*pool.store, {.name = name, .devices = std::move(devices)}, 1min);
  }
  Gpu local(const std::string& host) {
    Gpu gpu = new_gpu(pool.identity, Source::local);
    gpu.state = State::idle;
    gpu.host = host;
    gpu.device = "cpu";
    return pool.add(gpu);
  }
  std::size_t rows() { return pool.store->view().gpus.size(); }
};

RecurringWindow berlin(const std::string& start, const std::string& end) {
  return RecurringWindow::parse("Europe/Berlin", start, end);
}

ScheduledLimits office_hours(const ScalingLimits& limits) {
  return {.name = "office", .window = berlin("0 8 * * 1-5", "0 18 * * 1-5"), .limits = limits};
}

bool tells(const std::vector<std::string>& lines, const std::string& line) {
  return std::find(lines.begin(), lines.end(), line) != lines.end();
}

}  // namespace

TEST_CASE("ticks follow the schedule: more GPUs from its start, none after its end") {
  TimedPool world;
  world.host("here", {"cuda:0", "cuda:1", "cuda:2"});
  world.schedule = {office_hours(quick_limits(2, 2))};
  CHECK(world.tick().acted == 0);
  world.wall = monday(8h);
  const Tick started = world.tick();
  CHECK(started.acted == 2);
  CHECK(started.plan.target.least == 2);
  CHECK(tells(started.explanation, "schedule: 'office' until 2026-11-23T17:00:00.000Z"));
  CHECK(k_timetable_state.read(*world.pool.store)->schedule == ActiveEntry{"office", monday(18h)});
  world.wall = monday(18h);
  CHECK(world.tick().plan.target.least == 0);
  CHECK(k_timetable_state.read(*world.pool.store) == TimetableState{});
  std::vector<std::string> told;
  for (const PoolEvent& event : world.pool.store->events({})) {
    if (event.gpu.empty()) told.push_back(event.why);
  }
  CHECK(told == std::vector<std::string>{"the schedule that holds is 'office', before it none",
                                         "the schedule that holds is none, before it 'office'"});
}

TEST_CASE("the first entry that is under way holds") {
  TimedPool world;
  world.schedule = {
      {.name = "lunch", .window = berlin("0 12 * * *", "0 13 * * *"), .limits = quick_limits(5, 5)},
      office_hours(quick_limits(2, 2))};
  const auto holds = [&](std::chrono::minutes at) {
    world.wall = monday(at);
    const auto active = world.timetable()->active();
    return std::pair(active ? active->name : "", world.timetable()->limits().min_free);
  };
  CHECK(holds(9h) == std::pair(std::string("office"), 2));
  CHECK(holds(12h) == std::pair(std::string("lunch"), 5));
  CHECK(holds(13h) == std::pair(std::string("office"), 2));
  CHECK(holds(19h) == std::pair(std::string(), 0));
}

TEST_CASE("users who wait are bound by the schedule's maximum") {
  TimedPool world;
  world.usual.max_gpus = 0;
  ScalingLimits one = quick_limits(0, 1);
  one.max_gpus = 1;
  world.schedule = {office_hours(one)};
  world.host("here", {"cuda:0", "cuda:1"});
  for (const char* user : {"a", "b"}) REQUIRE(world.pool.enqueue(user));
  world.wall = monday(9h);
  Supply supply(*world.pool.store, world.supply_options());
  supply.ensure_for_waiters();
  CHECK(world.rows() == 1);
  world.wall = monday(19h);
  supply.ensure_for_waiters();
  CHECK(world.rows() == 2);
}

TEST_CASE("GPUs are drained ahead of a maintenance window, told by when, and return after it") {
  TimedPool world;
  world.usual = quick_limits(1, 1);
  world.host("a", {"cpu"});
  const Gpu here = world.local("a"), other = world.local("b");
  world.windows = {{.name = "updates",
                    .window = berlin("0 10 * * 1", "0 11 * * 1"),
                    .ahead = 30min,
                    .hosts = {"a"}}};
  world.wall = monday(9h + 29min);
  world.tick();
  CHECK_FALSE(world.pool.row(here).draining);

  world.wall = monday(9h + 30min);
  const TimePoint before = world.pool.store->now();
  const Tick tick = world.tick();
  CHECK(tells(tick.explanation, "maintenance: 'updates' until 2026-11-23T10:00:00.000Z"));
  CHECK(tells(tick.explanation,
              "drain " + here.id.text + ": a maintenance window is near or under way"));
  CHECK(world.pool.row(here).draining);
  CHECK_FALSE(world.pool.row(other).draining);
  const auto notices = k_drain_notices.read(*world.pool.store).value_or(DrainNotices{});
  REQUIRE(notices.size() == 1);
  CHECK(notices[0].gpu == here.id);
  CHECK(notices[0].ends_at >= before + 30min);
  CHECK(notices[0].ends_at < before + 31min);

  world.wall = monday(10h + 59min);
  world.tick();
  CHECK(world.pool.row(here).draining);
  world.wall = monday(11h);
  world.tick();
  CHECK_FALSE(world.pool.row(here).draining);
  CHECK(k_drain_notices.read(*world.pool.store).value_or(DrainNotices{}).empty());
}

TEST_CASE("no GPU is started where there is maintenance; another source takes its place") {
  TimedPool world;
  world.usual = quick_limits(1, 1);
  world.host("a", {"cpu"});
  world.windows = {{.name = "updates",
                    .window = berlin("0 10 * * *", "0 11 * * *"),
                    .origins = {Origin::local}}};
  world.wall = monday(10h);
  world.tick();
  REQUIRE(world.rows() == 1);
  CHECK(world.pool.store->view().gpus[0].source == Source::cloud);
}

TEST_CASE("a window of one of two clouds drains its GPUs, and leaves the other one open") {
  TimedPool world;
  world.clouds = {Origin::kubernetes, Origin::runpod};
  world.windows = {{.name = "cluster",
                    .window = berlin("0 10 * * *", "0 11 * * *"),
                    .origins = {Origin::kubernetes}}};
  world.wall = monday(10h);
  const auto closed = [&](Origin origin) { return world.timetable()->in_maintenance(origin, ""); };
  CHECK(closed(Origin::kubernetes));
  CHECK_FALSE(closed(Origin::runpod));
  CHECK_FALSE(closed(Origin::cloud));
  world.clouds = {Origin::kubernetes};
  CHECK(closed(Origin::cloud));
}

TEST_CASE("nothing is created for waiting users in a maintenance window of everything") {
  TimedPool world;
  world.usual = quick_limits(1, 1);
  world.host("a", {"cpu"});
  world.windows = {{.name = "all", .window = berlin("0 10 * * *", "0 11 * * *")}};
  world.wall = monday(10h);
  REQUIRE(world.pool.enqueue("user"));
  Supply(*world.pool.store, world.supply_options()).ensure_for_waiters();
  world.tick();
  CHECK(world.rows() == 0);
  world.wall = monday(11h);
  Supply(*world.pool.store, world.supply_options()).ensure_for_waiters();
  CHECK(world.rows() == 1);
}

TEST_CASE("an operator's drain outlasts maintenance windows") {
  TimedPool world;
  const Gpu operators = world.local("a"), ours = world.local("b");
  drain_gpu(*world.pool.store, operators.id.text, 1min, "operator");
  world.windows = {{.name = "w", .window = berlin("0 10 * * *", "0 11 * * *")}};
  world.wall = monday(10h);
  world.tick();
  CHECK(world.pool.row(ours).draining);
  world.wall = monday(11h);
  world.tick();
  CHECK(world.pool.row(operators).draining);
  CHECK_FALSE(world.pool.row(ours).draining);
  // Once it was given back, another drain of the same GPU is the operator's.
  drain_gpu(*world.pool.store, ours.id.text, 1min, "operator");
  world.tick();
  CHECK(world.pool.row(ours).draining);
}

TEST_CASE("a GPU that an operator drains within a maintenance window stays drained after it") {
  TimedPool world;
  const Gpu gpu = world.local("a");
  world.windows = {{.name = "w", .window = berlin("0 10 * * *", "0 11 * * *")}};
  world.wall = monday(10h);
  world.tick();
  REQUIRE(world.pool.row(gpu).draining);
  drain_gpu(*world.pool.store, gpu.id.text, 1min, "operator");
  world.wall = monday(11h);
  world.tick();
  CHECK(world.pool.row(gpu).draining);
  CHECK(k_drain_notices.read(*world.pool.store).value_or(DrainNotices{}).size() == 1);
}

TEST_CASE(
    "a GPU that is listed but was never drained, by a crash, is not touched after the window") {
  TimedPool world;
  const Gpu gpu = world.local("a");
  k_maintenance_drains.write(*world.pool.store, {gpu.id});
  world.tick();
  CHECK(k_maintenance_drains.read(*world.pool.store) == MaintenanceDrains{});
  drain_gpu(*world.pool.store, gpu.id.text, 1min, "operator");
  world.tick();
  CHECK(world.pool.row(gpu).draining);
}

TEST_CASE("a dry run tells what a maintenance window does, and does nothing") {
  TimedPool world;
  const Gpu gpu = world.local("a");
  world.windows = {{.name = "w", .window = berlin("0 10 * * *", "0 11 * * *")}};
  world.wall = monday(10h);
  CHECK(tells(world.tick(true).explanation,
              "drain " + gpu.id.text + ": a maintenance window is near or under way"));
  CHECK_FALSE(world.pool.row(gpu).draining);
  CHECK_FALSE(k_maintenance_drains.read(*world.pool.store));
  CHECK_FALSE(k_timetable_state.read(*world.pool.store));
}

TEST_CASE("a schedule's entry changes the keys that it names, and no others") {
  ConfigReading reading = read_config({.file = std::nullopt, .environment = {}});
  reading.config.pool.min_running_gpu = 1;
  reading.config.pool.max_gpus = 7;
  const auto limits_with = [&](ScheduleConfig entry) {
    entry.name = "always";
    entry.start = "* * * * *";
    entry.end = "0 0 29 2 *";
    reading.config.schedules = {entry};
    return timetable(reading)->limits();
  };
  const ScalingLimits more = limits_with({.min_running_gpu = 4, .free_running_gpu = 9});
  CHECK(more.min_free == 4);
  CHECK(more.max_free == 9);
  CHECK(more.max_gpus == 7);
  CHECK(more.policy == ScalingPolicy::static_limits);
  // Adaptive: a ceiling only where somebody set one.
  CHECK_FALSE(limits_with({.policy = "adaptive"}).max_free);
  CHECK(limits_with({.free_running_gpu = 3, .policy = "adaptive"}).max_free == 3);
  CHECK(limits_with({.max_gpus = 0}).max_gpus == 0);
}

TEST_CASE("the recorded state of a timetable is read back; another text is none") {
  const TimetableState state{ActiveEntry{"a \"b\"", monday(1h)}, {{"w", monday(2h)}}};
  CHECK(parse_timetable_state(as_text(state)) == state);
  CHECK(parse_timetable_state(as_text(TimetableState{})) == TimetableState{});
  for (const char* text : {"", "{}", "[]", "{\"schedule\":1,\"maintenance\":[]}"}) {
    CHECK_FALSE(parse_timetable_state(text));
  }
  CHECK_FALSE(parse_maintenance_drains("[1]"));
}
