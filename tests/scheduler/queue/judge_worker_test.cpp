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

struct World {
  SmallPool pool;
  Supply supply{*pool.store, {.identity = pool.identity, .who = "test"}};
  DemandTracker demand_tracker{*pool.store};
  Allocator allocator;

  // Every fault is an occasion of its own, since no time passes here.
  explicit World(Duration lasting = 30s)
      : allocator(*pool.store, supply, demand_tracker,
                  {.gateway = "gateway",
                   .host = "here",
                   .faults = {.lasting = lasting, .same_occasion = 0s}}) {}
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
  World world(0s);  // every session has lasted
  const Gpu gpu = world.idle();
  const auto lives = std::get<Lease>(world.allocator.arrive({.id = {"other"}}));
  for (const char* const client : {"a", "b", "c"}) world.report(gpu, Answer::well, {client});
  CHECK(world.pool.row(gpu).state == State::running);
  world.allocator.release(lives);
  world.report(gpu, Answer::well, {"d"});
  CHECK(world.pool.row(gpu).state == State::failed);
}

TEST_CASE("a session that lasts clears what was known against its GPU") {
  World world;
  const Gpu gpu = world.idle();
  world.report(gpu, Answer::well, {"a"});
  world.report(gpu, Answer::well, {"b"});
  world.allocator.session_lasted(gpu.id, "z");
  world.report(gpu, Answer::well, {"c"});
  CHECK(world.pool.row(gpu).state == State::idle);
}

TEST_CASE("two gateways add up what they see of a worker") {
  World world;
  const Gpu gpu = world.idle();
  Allocator other(*world.pool.store, world.supply, world.demand_tracker,
                  {.gateway = "other", .host = "here", .faults = {.same_occasion = 0s}});
  world.report(gpu, Answer::well, {"a"});
  other.judge({.gpu = gpu.id, .faults = {{.gpu = gpu.id, .client = "b"}}});
  world.report(gpu, Answer::well, {"c"});
  CHECK(world.pool.row(gpu).state == State::failed);
}

TEST_CASE("a worker that is gone fails at once, a pod behind a proxy after the prober's grace") {
  World world;
  const Gpu local = world.idle(Source::local), external = world.idle(Source::external),
            pod = world.idle(Source::cloud);
  for (const Gpu& gpu : {local, external, pod}) world.report(gpu, Answer::none, {"a"});
  CHECK(world.pool.row(local).state == State::failed);
  CHECK(world.pool.row(external).state == State::failed);
  CHECK(world.pool.row(external).last_error ==
        "a session failed, and its worker does not answer: connection refused");
  CHECK(world.pool.row(pod).state == State::idle);
  CHECK(world.pool.row(pod).misses == 1);
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
  world.report(paused, Answer::none, {"a"});
  CHECK(world.pool.row(paused).state == State::paused);
  CHECK(world.pool.row(paused).last_error.empty());
  world.report({.id = {"gone"}}, Answer::none, {"a"});
  CHECK(world.pool.store->view().gpus.size() == 1);
}

TEST_CASE("a GPU that is blamed for its sessions is known as such until the faults are old") {
  World world;
  const Gpu gpu = world.idle();
  for (const char* const client : {"a", "b", "c"}) world.report(gpu, Answer::well, {client});
  CHECK(blamed_for_sessions(*world.pool.store, gpu.id, {.same_occasion = 0s}));
  CHECK_FALSE(blamed_for_sessions(*world.pool.store, gpu.id, {.window = -1s, .same_occasion = 0s}));
  CHECK_FALSE(blamed_for_sessions(*world.pool.store, {"other"}, {.same_occasion = 0s}));
}
