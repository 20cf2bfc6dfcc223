// What the allocator makes of sessions that fail: which GPU fails, and which does not.
#include <catch2/catch.hpp>

#include "scheduler/queue/allocator.h"
#include "tests/scheduler/small_pool.h"

using namespace navtalk;
using namespace navtalk::tests;
using namespace std::chrono_literals;
using Kind = SessionFault::Kind;
using Answer = WorkerReport::Answer;

namespace {

// Every fault is an occasion of its own, since no time passes here.
FaultRules quick() { return {.same_occasion = 0s}; }
// And a GPU that is compared with nothing is to blame for any series.
FaultRules quick_alone() {
  return {.same_occasion = 0s, .lone_occasions = 3, .lone_clients = 3, .lone_span = 0s};
}

struct World {
  SmallPool pool;
  Supply supply{*pool.store, {.identity = pool.identity, .who = "test"}};
  DemandTracker demand_tracker{*pool.store};
  Allocator allocator;

  explicit World(const FaultRules& rules = quick_alone())
      : allocator(*pool.store, supply, demand_tracker,
                  {.gateway = "gateway", .host = "here", .faults = rules}) {}
  Gpu idle(Source source = Source::external, int slots = 4) {
    Gpu gpu = new_gpu(pool.identity, source);
    gpu.state = State::idle;
    gpu.url = "http://127.0.0.1:9/" + gpu.id.text;
    gpu.host = source == Source::local ? "here" : "";
    gpu.device = gpu.id.text;
    gpu.slots = slots;
    return pool.add(gpu);
  }
  void report(const Gpu& gpu, Answer answer, const std::vector<std::string>& clients,
              Kind kind = Kind::cut) {
    WorkerReport report{.gpu = gpu.id, .answer = answer, .last_fault = "cut"};
    if (answer != Answer::well) report.why_unwell = "connection refused";
    for (const std::string& client : clients) {
      report.faults.push_back({.gpu = gpu.id, .client = client, .kind = kind});
    }
    allocator.judge(report);
  }
  std::vector<std::string> sayings() {
    std::vector<std::string> why;
    for (const PoolEvent& event : pool.store->events({})) {
      if (event.gpu.empty()) why.push_back(event.why);
    }
    return why;
  }
};

}  // namespace

TEST_CASE("a worker that answers well keeps its GPU when a session on it is cut") {
  World world;
  const Gpu gpu = world.idle();
  const auto others = std::get<Lease>(world.allocator.arrive({.id = {"other"}}));
  world.report(gpu, Answer::well, {"a"});
  CHECK(world.pool.row(gpu).state == State::running);
  CHECK(world.pool.store->leases() == std::vector{others});
}

TEST_CASE("a worker that answers well and breaks the sessions of three clients fails its GPU") {
  World world;
  const Gpu gpu = world.idle();
  register_host(*world.pool.store, {.name = "here", .devices = {"cpu"}}, 1min);
  world.report(gpu, Answer::well, {"a"});
  world.report(gpu, Answer::well, {"b"});
  CHECK(world.pool.row(gpu).state == State::idle);
  world.report(gpu, Answer::well, {"c"});
  CHECK(world.pool.row(gpu).state == State::failed);
  CHECK(world.pool.row(gpu).last_error == "session after session fails on it: cut");
  // A replacement is on its way.
  CHECK(world.pool.store->view().gpus.size() == 2);
}

TEST_CASE("a GPU is not failed for its sessions while one lives on there") {
  FaultRules rules = quick_alone();
  rules.lasting = 0s;
  World world(rules);
  const Gpu gpu = world.idle();
  const auto lives = std::get<Lease>(world.allocator.arrive({.id = {"other"}}));
  for (const char* const client : {"a", "b", "c"}) world.report(gpu, Answer::well, {client});
  CHECK(world.pool.row(gpu).state == State::running);
  world.allocator.release(lives);
  world.report(gpu, Answer::well, {"d"});
  CHECK(world.pool.row(gpu).state == State::failed);
}

TEST_CASE("a GPU that cuts sessions late fails, and keeps those that it has") {
  FaultRules rules = quick();
  rules.lasting = 0s;
  for (const Duration age : {0s, 60s}) {
    World world(rules);
    const Gpu bad = world.idle(), good = world.idle();
    const auto cut = [&](const char* client) {
      return SessionFault{.gpu = bad.id,
                          .origin = origin_of(bad),
                          .client = client,
                          .at = world.pool.store->now(),
                          .age = age};
    };
    // Two clients were cut there, while a session lasted on the other GPU.
    k_session_faults.update(*world.pool.store, [&](SessionFaults& known) {
      const TimePoint now = world.pool.store->now();
      for (const char* const client : {"a", "b"}) {
        SessionFault fault = cut(client);
        fault.at = now - (client[0] == 'a' ? 95s : 50s);
        known.add(fault);
      }
      known.note_lasted({good.id, origin_of(good), now - 90s, now - 10s}, "c", false);
    });
    const auto lives = std::get<Lease>(world.allocator.arrive({.id = {"other"}}));
    REQUIRE(lives.gpu == bad.id);
    world.allocator.judge({.gpu = bad.id, .faults = {cut("d")}, .last_fault = "cut"});
    // One that was not cut yet speaks for a GPU whose sessions break early.
    const bool late = age > Duration{};
    CHECK(world.pool.row(bad).state == (late ? State::failed : State::running));
    CHECK(world.pool.store->leases() == std::vector{lives});
    CHECK(world.pool.row(good).state == State::idle);
  }
}

TEST_CASE("a session that lasts clears what was known against its GPU") {
  World world;
  const Gpu gpu = world.idle();
  world.report(gpu, Answer::well, {"a"});
  world.report(gpu, Answer::well, {"b"});
  world.allocator.session_lasted({.gpu = gpu.id, .origin = origin_of(gpu)}, "z", false);
  world.report(gpu, Answer::well, {"c"});
  CHECK(world.pool.row(gpu).state == State::idle);
}

TEST_CASE("two gateways add up what they see of a worker") {
  World world;
  const Gpu gpu = world.idle();
  Allocator other(*world.pool.store, world.supply, world.demand_tracker,
                  {.gateway = "other", .host = "here", .faults = quick_alone()});
  world.report(gpu, Answer::well, {"a"});
  other.judge({.gpu = gpu.id, .faults = {{.gpu = gpu.id, .client = "b"}}});
  world.report(gpu, Answer::well, {"c"});
  CHECK(world.pool.row(gpu).state == State::failed);
}

TEST_CASE("sessions that break on every GPU fail none of them, and that is said once") {
  World world(quick());
  const std::vector<Gpu> gpus = {world.idle(), world.idle(), world.idle()};
  for (int round = 0; round < 5; ++round) {
    for (const Gpu& gpu : gpus) {
      // Visitors who come once.
      world.report(gpu, Answer::well, {gpu.id.text + std::to_string(round)});
    }
  }
  for (const Gpu& gpu : gpus) CHECK(world.pool.row(gpu).state == State::idle);
  CHECK(world.sayings() ==
        std::vector<std::string>{"external: sessions break on most GPUs, whose workers answer "
                                 "well: none is failed"});

  for (const Gpu& gpu : gpus) {
    world.allocator.session_lasted({.gpu = gpu.id, .origin = origin_of(gpu)}, "z", false);
  }
  CHECK(world.sayings().size() == 2);
  CHECK(world.sayings().back() == "external: sessions last again");
}

TEST_CASE("sessions that are cut late on every GPU fail none of them, and that is said once") {
  World world(quick());
  const std::vector<Gpu> gpus = {world.idle(), world.idle()};
  for (const char* const client : {"a", "b", "c", "d"}) {
    for (const Gpu& gpu : gpus) {
      const SessionFault cut{.gpu = gpu.id, .client = gpu.id.text + client, .age = 60s};
      world.allocator.judge({.gpu = gpu.id, .faults = {cut}, .last_fault = "cut"});
    }
  }
  for (const Gpu& gpu : gpus) CHECK(world.pool.row(gpu).state == State::idle);
  CHECK(world.sayings() ==
        std::vector<std::string>{"external: sessions break on most GPUs, whose workers answer "
                                 "well: none is failed"});
}

TEST_CASE("of two GPUs the one fails whose sessions break while one lasts on the other") {
  World world(quick());
  const Gpu bad = world.idle(), good = world.idle();
  for (const char* const client : {"a", "b", "c"}) world.report(bad, Answer::well, {client});
  CHECK(world.pool.row(bad).state == State::idle);  // nobody has tried the other one
  world.allocator.session_lasted(
      {.gpu = good.id, .origin = origin_of(good), .claimed_at = world.pool.store->now()}, "d",
      false);
  world.report(bad, Answer::well, {"e"});
  CHECK(world.pool.row(bad).state == State::failed);
  CHECK(world.pool.row(good).state == State::idle);
}

TEST_CASE("a worker whose process is gone fails at once, and one that is silent misses a probe") {
  World world;
  const Gpu local = world.idle(Source::local), external = world.idle(Source::external),
            pod = world.idle(Source::cloud);
  for (const Gpu& gpu : {local, external, pod}) {
    world.report(gpu, Answer::unwell, {"a"});
    CHECK(world.pool.row(gpu).state == State::idle);
    CHECK(world.pool.row(gpu).misses == 1);
  }
  for (const Gpu& gpu : {local, external}) {
    world.report(gpu, Answer::gone, {"a"});
    CHECK(world.pool.row(gpu).state == State::failed);
    CHECK(world.pool.row(gpu).last_error ==
          "a session failed, and its worker is gone: connection refused");
  }
}

TEST_CASE("a worker that does not answer well counts a miss, and a good answer clears it") {
  World world;
  const Gpu gpu = world.idle();
  world.report(gpu, Answer::unwell, {"a"});
  CHECK(world.pool.row(gpu).state == State::idle);
  CHECK(world.pool.row(gpu).misses == 1);
  world.report(gpu, Answer::well, {});
  CHECK(world.pool.row(gpu).misses == 0);
}

TEST_CASE("a GPU that is paused or gone is not failed by a late report") {
  World world;
  Gpu paused = new_gpu(world.pool.identity, Source::external);
  paused.state = State::paused;
  paused = world.pool.add(paused);
  world.report(paused, Answer::gone, {"a"});
  CHECK(world.pool.row(paused).state == State::paused);
  CHECK(world.pool.row(paused).last_error.empty());
  world.report({.id = {"gone"}}, Answer::gone, {"a"});
  CHECK(world.pool.store->view().gpus.size() == 1);
}

TEST_CASE("a GPU that is blamed for its sessions is known as such until the faults are old") {
  World world;
  const Gpu gpu = world.idle();
  for (const char* const client : {"a", "b", "c"}) world.report(gpu, Answer::well, {client});
  CHECK(blamed_for_sessions(*world.pool.store, gpu, quick_alone()));
  FaultRules later = quick_alone();
  later.window = -1s;
  CHECK_FALSE(blamed_for_sessions(*world.pool.store, gpu, later));
  CHECK_FALSE(blamed_for_sessions(*world.pool.store, {.id = {"other"}}, quick_alone()));
}
