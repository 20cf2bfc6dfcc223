// The cap on spending where true prices differ from expected ones.
#include "scheduler/provision/spending.h"

#include <catch2/catch.hpp>

#include "scheduler/provision/executor/executor.h"
#include "scheduler/provision/over_cap.h"
#include "scheduler/provision/reconciler/reconciler.h"
#include "tests/scheduler/provision/scripted_provider.h"
#include "tests/scheduler/small_pool.h"

using namespace navtalk;
using namespace navtalk::tests;

namespace {

constexpr Duration k_long = std::chrono::seconds(20);
constexpr double k_cap = 1.2;

struct World {
  SmallPool pool;
  ScriptedProvider cloud{Source::cloud};
  double cap = k_cap;
  int failures = 0;

  // One step of a process with that cap.
  void work() {
    Executor executor(*pool.store, {&cloud},
                      {.owner = this_process(), .max_usd_per_hour = cap, .threads = 1},
                      [this] { ++failures; });
    executor.step();
    REQUIRE(executor.wait_idle(k_long, {}));
  }
  Gpu creating(double expected) {
    Gpu gpu = new_gpu(pool.identity, Source::cloud);
    gpu.usd_per_hour = expected;
    return pool.wanting(Source::cloud, Operation::create, gpu);
  }
  // The next create makes this row's instance, at that price.
  void costs(const Gpu& gpu, double usd) {
    const Instance made{.provider_id = "pod of " + gpu.id.text,
                        .name = gpu.name,
                        .status = Instance::Status::running,
                        .device = "NVIDIA L4",
                        .usd_per_hour = usd};
    cloud.put(made);
    cloud.answer(Operation::create, {Done{made}});
  }
  // From now on its instance costs so much.
  void shows(const Gpu& gpu, double usd, const std::string& provider_id = "") {
    cloud.put({.provider_id = provider_id.empty() ? gpu.provider_id : provider_id,
               .name = gpu.name,
               .status = Instance::Status::running,
               .url = gpu.url,
               .device = "NVIDIA L4",
               .usd_per_hour = usd});
  }
  // One pass; when the next one is due.
  Duration reconcile() {
    Reconciler reconciler(*pool.store, cloud,
                          {.identity = pool.identity, .who = "test", .max_usd_per_hour = cap});
    REQUIRE(reconciler.pass({}));
    return reconciler.next_pass();
  }
  std::string last_event(const Gpu& gpu) {
    const auto events = pool.store->events({.gpu = gpu.id});
    REQUIRE_FALSE(events.empty());
    return events.back().why;
  }
  bool room_for(double usd) {
    Gpu gpu = new_gpu(pool.identity, Source::cloud);
    gpu.usd_per_hour = usd;
    return pool.store->add({.gpu = gpu, .max_usd_per_hour = cap}, {"test", "room"}).has_value();
  }
};

}  // namespace

TEST_CASE("a created GPU whose true price breaks the cap is recorded and destroyed again") {
  World world;
  world.pool.pod(State::idle, "pod-a", 0.5);
  const Gpu gpu = world.creating(0.5);
  world.costs(gpu, 3);
  world.work();

  const Gpu row = world.pool.row(gpu);
  CHECK(row.state == State::stopping);
  CHECK(row.intent.operation == Operation::destroy);
  CHECK(row.provider_id == "pod of " + gpu.id.text);
  CHECK_THAT(world.last_event(gpu), Catch::Contains("costs 3.00 USD per hour, but "
                                                    "pool.max_usd_per_hour leaves 0.70"));
  CHECK(world.failures == 1);
  const auto attempts = world.pool.store->attempts({});
  REQUIRE(attempts.size() == 1);
  CHECK(attempts[0].result == Attempt::Result::refused);
  // The next one of that type is expected to cost as much, whoever asks.
  CHECK(remembered_price(*world.pool.store, "NVIDIA L4") == 3);
  CHECK(remembered_price(*world.pool.store, "another") == 0);

  world.work();
  CHECK_FALSE(world.pool.store->find(gpu.id));
  CHECK(world.cloud.instances().empty());
  const auto ledger = world.pool.store->ledger({});
  REQUIRE(ledger.size() == 2);
  CHECK(ledger.back().usd_per_hour == 3);
  CHECK(ledger.back().to.has_value());
}

TEST_CASE("a true price within the cap counts from then on") {
  World world;
  const Gpu gpu = world.creating(0.5);
  world.costs(gpu, k_cap);
  world.work();
  CHECK(world.pool.row(gpu).state == State::starting);
  CHECK(world.pool.row(gpu).usd_per_hour == k_cap);
  CHECK_FALSE(world.room_for(0.1));
}

TEST_CASE("without a cap any price is right") {
  World world;
  world.cap = 0;
  const Gpu gpu = world.creating(0.5);
  world.costs(gpu, 300);
  world.work();
  CHECK(world.pool.row(gpu).state == State::starting);
}

TEST_CASE("of GPUs that are dearer together than the cap as many stay as it allows") {
  World world;
  world.cap = 2;
  std::vector<Gpu> gpus;
  for (int i = 0; i < 4; ++i) gpus.push_back(world.creating(0.5));
  for (const Gpu& gpu : gpus) world.costs(gpu, 1);
  world.work();
  int stay = 0;
  double usd = 0;
  for (const Gpu& gpu : gpus) {
    const Gpu row = world.pool.row(gpu);
    if (row.state != State::starting) continue;
    ++stay;
    usd += row.usd_per_hour;
  }
  CHECK(stay == 2);
  CHECK(usd == 2);
}

TEST_CASE("a GPU that is woken at a price that breaks the cap is destroyed") {
  World world;
  world.pool.pod(State::idle, "pod-a", 0.5);
  Gpu gpu = new_gpu(world.pool.identity, Source::cloud);
  gpu.provider_id = "pod-b";
  gpu.usd_per_hour = 0.5;
  world.cloud.put({.provider_id = "pod-b", .name = gpu.name, .usd_per_hour = 0.8});
  gpu = world.pool.wanting(Source::cloud, Operation::wake, gpu);
  world.work();
  CHECK(world.pool.row(gpu).intent.operation == Operation::destroy);
  CHECK(world.pool.row(gpu).usd_per_hour == 0.8);
  world.work();
  CHECK_FALSE(world.pool.store->find(gpu.id));
  CHECK(world.cloud.instances().empty());
}

TEST_CASE("what a lost create made is held to the cap when it is found") {
  World world;
  const auto [usd, state] =
      GENERATE(table<double, State>({{3.0, State::stopping}, {1.0, State::starting}}));
  Gpu gpu = new_gpu(world.pool.identity, Source::cloud);
  gpu.usd_per_hour = 0.5;
  gpu.intent = {.operation = Operation::create, .number = 1, .called = true, .tries = 1};
  gpu = world.pool.add(gpu);
  world.cloud.put({.provider_id = "pod-a",
                   .name = gpu.name,
                   .status = Instance::Status::running,
                   .device = "NVIDIA L4",
                   .usd_per_hour = usd});
  Reconciler reconciler(
      *world.pool.store, world.cloud,
      {.identity = world.pool.identity, .who = "test", .max_usd_per_hour = k_cap});
  REQUIRE(reconciler.pass({}));
  const Gpu row = world.pool.row(gpu);
  CHECK(row.state == state);
  CHECK(row.provider_id == "pod-a");
  CHECK(row.usd_per_hour == usd);
  CHECK((row.intent.operation == Operation::destroy) == (state == State::stopping));
}

TEST_CASE("an orphan that breaks the cap gets a row, and is destroyed") {
  World world;
  world.pool.pod(State::idle, "pod-a", 0.5);
  world.cloud.put({.provider_id = "pod-a", .name = "", .usd_per_hour = 0.5});
  const double usd = GENERATE(0.8, 0.6);
  world.cloud.put({.provider_id = "lost",
                   .name = world.pool.identity.own_prefix() + "lost",
                   .status = Instance::Status::running,
                   .usd_per_hour = usd});
  Reconciler reconciler(*world.pool.store, world.cloud,
                        {.identity = world.pool.identity,
                         .who = "test",
                         .max_usd_per_hour = k_cap,
                         .orphan_grace = {}});
  REQUIRE(reconciler.pass({}));
  REQUIRE(reconciler.pass({}));
  CHECK(world.pool.store->view().gpus.size() == 2);
  CHECK(world.pool.store->ledger({}).size() == 2);
  world.work();
  CHECK(world.pool.store->view().gpus.size() == (usd > 0.7 ? 1 : 2));
  CHECK(world.cloud.instances().size() == (usd > 0.7 ? 1 : 2));
}

TEST_CASE(
    "a price that rises beyond the cap ends a GPU without sessions, and drains one with some") {
  World world;
  const Gpu gpu = world.pool.pod(State::idle, "pod-a", 0.5);
  const bool busy = GENERATE(true, false);
  const auto lease = busy ? world.pool.claim("user") : std::nullopt;
  CHECK(world.room_for(0.1));
  world.shows(gpu, 5);
  world.reconcile();
  CHECK(world.pool.row(gpu).usd_per_hour == 5);
  CHECK(world.pool.row(gpu).state == (busy ? State::running : State::stopping));
  CHECK(world.pool.row(gpu).draining == busy);
  CHECK_THAT(world.pool.row(gpu).last_error, Catch::Contains("costs 5.00 USD per hour"));
  CHECK_FALSE(world.room_for(0.1));
  CHECK(remembered_price(*world.pool.store, "NVIDIA L4") == 5);
  if (busy) {
    // Nobody takes its session away.
    world.reconcile();
    CHECK(world.pool.row(gpu).sessions == 1);
    REQUIRE(world.pool.store->release(lease->id, lease->epoch));
    world.reconcile();
    CHECK(world.pool.row(gpu).intent.operation == Operation::destroy);
  }
  world.work();
  CHECK_FALSE(world.pool.store->find(gpu.id));
  CHECK(world.cloud.instances().empty());
}

TEST_CASE("a price that rises within the cap only counts") {
  World world;
  const Gpu gpu = world.pool.pod(State::idle, "pod-a", 0.5);
  world.shows(gpu, k_cap);
  world.reconcile();
  CHECK(world.pool.row(gpu).state == State::idle);
  CHECK(world.pool.row(gpu).usd_per_hour == k_cap);
  CHECK_FALSE(world.room_for(0.1));
}

TEST_CASE("without a cap a price that rises ends nothing") {
  World world;
  world.cap = 0;
  const Gpu gpu = world.pool.pod(State::idle, "pod-a", 0.5);
  world.shows(gpu, 500);
  world.reconcile();
  CHECK(world.pool.row(gpu).state == State::idle);
  CHECK(world.pool.row(gpu).usd_per_hour == 500);
}

TEST_CASE("when all prices rise, as many GPUs stay as the cap allows") {
  World world;
  world.cap = 10;
  std::vector<Gpu> gpus;
  for (int i = 0; i < 4; ++i) {
    gpus.push_back(world.pool.pod(State::idle, "pod-" + std::to_string(i), 0.5));
    world.shows(gpus.back(), 5);
  }
  world.reconcile();
  const auto stays = [&](const Gpu& gpu) { return world.pool.row(gpu).state == State::idle; };
  CHECK(std::count_if(gpus.begin(), gpus.end(), stays) == 2);
}

TEST_CASE("a price that the create's answer lacks is asked for at once, and held to the cap") {
  World world;
  world.pool.pod(State::idle, "pod-a", 0.5);
  const double usd = GENERATE(3.0, 0.6);
  const Gpu gpu = world.creating(0.5);
  Instance answered{.provider_id = "pod-b",
                    .name = gpu.name,
                    .status = Instance::Status::running,
                    .device = "NVIDIA L4",
                    .usd_per_hour = usd};
  world.cloud.put(answered);
  answered.usd_per_hour = 0.5;
  answered.price_expected = true;
  world.cloud.answer(Operation::create, {Done{answered}});
  world.work();
  CHECK(world.cloud.lookups() == std::vector<std::string>{"pod-b"});
  CHECK(world.pool.row(gpu).usd_per_hour == usd);
  CHECK(world.pool.row(gpu).state == (usd > 1 ? State::stopping : State::starting));
  CHECK(world.failures == (usd > 1 ? 1 : 0));
  CHECK(remembered_price(*world.pool.store, "NVIDIA L4") == usd);
}

TEST_CASE(
    "a price that nobody tells yet is looked for soon, and held to the cap when a list has it") {
  World world;
  const Gpu gpu = world.creating(0.5);
  Instance answered{.provider_id = "pod-b",
                    .name = gpu.name,
                    .status = Instance::Status::running,
                    .device = "NVIDIA L4",
                    .usd_per_hour = 0.5,
                    .price_expected = true};
  world.cloud.answer(Operation::create, {Done{answered}});
  answered.usd_per_hour = 0;
  world.cloud.put(answered);
  world.work();
  CHECK(world.pool.row(gpu).usd_per_hour == 0.5);
  CHECK(world.reconcile() == std::chrono::seconds(10));
  CHECK(world.pool.row(gpu).state == State::starting);
  world.shows(gpu, 3, "pod-b");
  world.reconcile();
  CHECK(world.pool.row(gpu).state == State::stopping);
  CHECK(world.pool.row(gpu).usd_per_hour == 3);
  CHECK(remembered_price(*world.pool.store, "NVIDIA L4") == 3);
}

TEST_CASE("which GPUs the cap leaves no room for") {
  struct Row {
    std::string what;
    double cap;
    std::vector<Gpu> gpus;
    std::string over;
  };
  const auto gpu = [](const std::string& id, State state, double usd, int sessions = 0) {
    return Gpu{.id = {id},
               .source = Source::cloud,
               .state = state,
               .sessions = sessions,
               .usd_per_hour = usd};
  };
  using enum State;
  Gpu draining = gpu("d", running, 3, 1), creating = gpu("c", starting, 2),
      external = gpu("e", idle, 2);
  draining.draining = true;
  creating.intent.operation = Operation::create;
  external.source = Source::external;
  for (const Row& row : std::vector<Row>{
           {"all fit", 2, {gpu("a", idle, 1), gpu("b", running, 1, 1)}, ""},
           {"sums are rounded", 0.3, {gpu("a", idle, 0.1), gpu("b", idle, 0.2)}, ""},
           {"idle before busy", 2, {gpu("a", idle, 1), gpu("b", running, 2, 1)}, "a"},
           {"starting before idle", 1, {gpu("a", starting, 1), gpu("b", idle, 1)}, "a"},
           {"the dearest", 2, {gpu("a", idle, 5), gpu("b", idle, 1), gpu("c", idle, 1)}, "a"},
           {"one that fits in no cap takes none with it",
            2,
            {gpu("a", running, 5, 1), gpu("b", idle, 1)},
            "a"},
           {"draining ones take none with them", 3, {draining, gpu("a", idle, 1)}, "d"},
           {"paused ones and those that end do not count",
            1,
            {gpu("a", paused, 5), gpu("b", stopping, 5), gpu("c", idle, 1)},
            ""},
           {"failed ones count", 1, {gpu("a", failed, 1), gpu("b", idle, 1)}, "a"},
           {"what is being created counts first", 2, {creating, gpu("a", idle, 1)}, "a"},
           {"what cannot be given up counts first", 2, {external, gpu("a", idle, 1)}, "a"},
           {"free ones are never too much", 1, {external, gpu("a", idle, 0)}, ""}}) {
    INFO(row.what);
    std::string over;
    for (const Gpu& one : over_cap(row.gpus, row.cap)) over += one.id.text;
    CHECK(over == row.over);
  }
}

TEST_CASE("two creates never reserve the same money") {
  World world;
  const auto taken = [&] {
    Gpu gpu = new_gpu(world.pool.identity, Source::cloud);
    gpu.usd_per_hour = 0.4;
    gpu.intent = {.operation = Operation::create, .number = 1, .owner = "here", .called = true};
    return world.pool.add(gpu);
  };
  const Gpu first = taken(), second = taken();
  PoolStore& store = *world.pool.store;
  CHECK(reserve_price(store, first, 0.7, k_cap));
  CHECK_FALSE(reserve_price(store, second, 0.7, k_cap));
  CHECK(reserve_price(store, second, 0.5, k_cap));
  CHECK(world.pool.row(first).usd_per_hour == 0.7);
  CHECK(world.pool.row(second).usd_per_hour == 0.5);
  // Nor does a create whose row another process has taken over.
  Gpu lost = first;
  lost.intent.owner = "there";
  CHECK_FALSE(reserve_price(store, lost, 0.1, k_cap));
  CHECK(world.pool.row(first).usd_per_hour == 0.7);
}
