#include "scheduler/provision/supply.h"

#include <catch2/catch.hpp>

#include "scheduler/pool/faults/outage.h"
#include "tests/scheduler/small_pool.h"

using namespace navtalk;
using namespace navtalk::tests;

namespace {

struct World {
  SmallPool pool;
  Supply supply(SupplyOptions options = {}) {
    options.identity = pool.identity;
    options.who = "test";
    return {*pool.store, std::move(options)};
  }
  void host(std::vector<std::string> devices, int slots = 1) {
    register_host(*pool.store,
                  {.name = "here", .devices = std::move(devices), .slots_per_device = slots},
                  std::chrono::minutes(1));
  }
  std::vector<Gpu> gpus() { return pool.store->view().gpus; }
  Gpu put(Source source, State state, double usd = 0) {
    Gpu gpu = new_gpu(pool.identity, source);
    gpu.state = state;
    gpu.usd_per_hour = usd;
    return pool.add(gpu);
  }
};

}  // namespace

TEST_CASE("a paused GPU is woken before one is created, local before cloud, cheap before dear") {
  World world;
  world.host({"cpu"});
  const Gpu dear = world.put(Source::cloud, State::paused, 2);
  const Gpu cheap = world.put(Source::cloud, State::paused, 1);
  const Gpu local = world.put(Source::local, State::paused);
  Supply supply = world.supply({.cloud = CloudSwitch::on});
  for (const Gpu& expected : {local, cheap, dear}) {
    const Provisioning brought = supply.provision(world.pool.store->view(), "test");
    CHECK(brought.operation == Operation::wake);
    CHECK(brought.gpu == expected.id);
    CHECK(world.pool.row(expected).state == State::starting);
    CHECK(world.pool.row(expected).intent.operation == Operation::wake);
  }
  CHECK(supply.provision(world.pool.store->view(), "test").operation == Operation::create);
}

TEST_CASE(
    "local devices are used up before the cloud, and the cloud only where it is switched on") {
  World world;
  world.host({"cpu"}, 3);
  Supply off = world.supply({.cloud = CloudSwitch::off});
  Supply automatic = world.supply({.cloud = CloudSwitch::automatic});
  Supply on = world.supply({.cloud = CloudSwitch::on, .cloud_usd_per_hour = [] { return 0.5; }});

  const Provisioning first = on.provision(world.pool.store->view(), "test");
  CHECK(first.source == Source::local);
  CHECK(world.gpus().at(0).device == "cpu");
  CHECK(world.gpus().at(0).host == "here");
  CHECK(world.gpus().at(0).slots == 3);

  CHECK(off.provision(world.pool.store->view(), "test").why == "no local device is free");
  CHECK(automatic.provision(world.pool.store->view(), "test").operation == Operation::none);
  switch_cloud(*world.pool.store, true);
  CHECK(automatic.provision(world.pool.store->view(), "test").source == Source::cloud);
  CHECK(on.provision(world.pool.store->view(), "test").source == Source::cloud);
}

TEST_CASE("nothing is created while creation is paused, or above a cap") {
  World world;
  Supply supply = world.supply({.cloud = CloudSwitch::on,
                                .cloud_usd_per_hour = [] { return 0.5; },
                                .max_gpus = 3,
                                .max_usd_per_hour = 1.2});
  pause_creation(*world.pool.store, std::chrono::minutes(1), "no balance");
  CHECK(supply.provision(world.pool.store->view(), "test").why ==
        "creation in the cloud is paused: no balance");
  pause_creation(*world.pool.store, {}, "");
  CHECK(supply.provision(world.pool.store->view(), "test").operation == Operation::create);
  CHECK(supply.provision(world.pool.store->view(), "test").operation == Operation::create);
  CHECK(supply.provision(world.pool.store->view(), "test").why ==
        "the cap on GPUs or on their price is reached");
  CHECK(world.gpus().size() == 2);
}

TEST_CASE("a paused pod is woken within the cap on spending, and only where the cloud is wanted") {
  World world;
  world.pool.pod(State::idle, "pod-1", 0.5);
  const Gpu paused = world.pool.pod(State::paused, "pod-2", 0.8);
  Supply capped = world.supply({.cloud = CloudSwitch::on, .max_usd_per_hour = 1.2});
  CHECK_FALSE(capped.wake(paused, "test"));
  CHECK(world.pool.row(paused).state == State::paused);
  // What is paused does not count against others.
  Supply other = world.supply({.cloud = CloudSwitch::on,
                               .cloud_usd_per_hour = [] { return 0.6; },
                               .max_usd_per_hour = 1.2});
  CHECK(other.create(world.pool.store->view(), Source::cloud, "test").operation ==
        Operation::create);
  CHECK(world.supply({.cloud = CloudSwitch::off})
            .provision(world.pool.store->view(), "test")
            .operation == Operation::none);
  Supply enough = world.supply({.cloud = CloudSwitch::on, .max_usd_per_hour = 2});
  CHECK(enough.wake(paused, "test"));
}

TEST_CASE("as many GPUs are brought as waiters lack, starting ones counted") {
  World world;
  world.host({"cuda:0", "cuda:1", "cuda:2", "cuda:3"});
  Supply supply = world.supply();
  REQUIRE(world.pool.enqueue("a"));
  REQUIRE(world.pool.enqueue("b"));
  supply.ensure_for_waiters();
  supply.ensure_for_waiters();
  REQUIRE(world.gpus().size() == 2);
  CHECK(world.gpus()[0].reserved_for == WaiterId{"a"});
  CHECK(world.gpus()[1].reserved_for == WaiterId{"b"});
}

TEST_CASE("what was brought since the look is not brought again") {
  World world;
  const Gpu paused = world.put(Source::cloud, State::paused);
  Supply supply = world.supply({.cloud = CloudSwitch::on});
  REQUIRE(world.pool.enqueue("a"));
  const PoolView before = world.pool.store->view();
  CHECK(supply.provision(before, "test", ForUsers{}).operation == Operation::wake);
  const Provisioning second = supply.provision(before, "test", ForUsers{});
  CHECK(second.operation == Operation::none);
  CHECK(second.why == "enough slots are free or starting");
  CHECK(world.gpus().size() == 1);
}

TEST_CASE("the next GPU is prepared unless enough slots are free or starting") {
  World world;
  world.host({"cuda:0", "cuda:1"});
  Supply supply = world.supply({.spare_slots = 1});
  supply.prepare_next();
  supply.prepare_next();
  CHECK(world.gpus().size() == 1);
}

TEST_CASE("FREE is a ceiling for the GPU that is prepared, too") {
  const auto spare = [](int least, std::optional<int> most) {
    return spare_slots({.min_free = least, .max_free = most});
  };
  CHECK(spare(0, 0) == 0);
  CHECK(spare(0, 1) == 1);
  CHECK(spare(1, 2) == 1);
  CHECK(spare(3, 5) == 3);
  CHECK(spare(3, 1) == 3);  // as the scaler has it: MIN before FREE
  CHECK(spare(0, std::nullopt) == 1);

  World world;
  world.host({"cuda:0", "cuda:1"});
  Supply supply = world.supply({.spare_slots = spare(0, 0)});
  supply.prepare_next();
  CHECK(world.gpus().empty());
  supply.ensure_for_refused();  // without a queue nobody else asks for one
  supply.ensure_for_refused();
  CHECK(world.gpus().size() == 1);
}

TEST_CASE("a dedicated or draining GPU is neither woken nor counted") {
  World world;
  Gpu dedicated = new_gpu(world.pool.identity, Source::local);
  dedicated.state = State::paused;
  dedicated.dedicated_to = {"acme"};
  world.pool.add(dedicated);
  Gpu draining = new_gpu(world.pool.identity, Source::local);
  draining.state = State::idle;
  draining.draining = true;
  world.pool.add(draining);
  CHECK(wakeable(world.pool.store->view()).empty());
  CHECK(coming_slots(world.pool.store->view()) == 0);
}

TEST_CASE("a host that fell silent offers no devices") {
  World world;
  world.host({"cpu"});
  CHECK(free_devices(live_hosts(*world.pool.store), {}).size() == 1);
  register_host(*world.pool.store, {.name = "here", .devices = {"cpu"}}, {});
  CHECK(live_hosts(*world.pool.store).empty());
}

TEST_CASE("a gateway that ends signs its host out only when no other one of it is there") {
  World world;
  const Host first = {.name = "here", .devices = {"cpu"}, .owner = "1"};
  const Host second = {.name = "here", .devices = {"cpu"}, .owner = "2"};
  register_host(*world.pool.store, first, std::chrono::minutes(1));
  register_host(*world.pool.store, second, std::chrono::minutes(1));
  unregister_host(*world.pool.store, first);
  CHECK(live_hosts(*world.pool.store).size() == 1);
  unregister_host(*world.pool.store, second);
  CHECK(live_hosts(*world.pool.store).empty());
}

TEST_CASE("gateways of one host that differ offer what each has, and the first says how large") {
  World world;
  PoolStore& store = *world.pool.store;
  const Host first = {.name = "here", .devices = {"cpu"}, .slots_per_device = 3, .owner = "1"};
  const Host second = {
      .name = "here", .devices = {"cpu", "cuda:0"}, .slots_per_device = 2, .owner = "2"};
  const Host none = {.name = "here", .devices = {}, .owner = "3"};
  for (int i = 0; i < 2; ++i) {
    for (const Host& host : {first, second, none})
      register_host(store, host, std::chrono::minutes(1));
  }
  using Places = std::vector<FreeDevice>;
  CHECK(free_devices(live_hosts(store), {}) == Places{{"here", "cpu", 3}, {"here", "cuda:0", 2}});
  unregister_host(store, first);
  CHECK(free_devices(live_hosts(store), {}) == Places{{"here", "cpu", 2}, {"here", "cuda:0", 2}});
}

TEST_CASE("a gateway that was killed offers no device any more") {
  World world;
  register_host(*world.pool.store, {.name = "here", .devices = {"cpu"}, .owner = dead_process()},
                std::chrono::minutes(1));
  CHECK(live_hosts(*world.pool.store).empty());
}

TEST_CASE("a pool's id is made once, and its GPUs carry it") {
  World world;
  const PoolIdentity again = pool_identity(*world.pool.store, "navtalk", "test");
  CHECK(again.id == world.pool.identity.id);
  CHECK(new_gpu(again, Source::local).name.starts_with("navtalk-test-" + again.id + "-"));
  const SmallPool other;
  CHECK(other.identity.id != again.id);
}

TEST_CASE("waiters make no storm of a source that refuses or fails") {
  World world;
  Demand learned;
  LeadTime& cloud = learned.create[static_cast<std::size_t>(Source::cloud)];
  Supply supply = world.supply({.cloud = CloudSwitch::on, .demand = [&] { return learned; }});
  world.pool.enqueue("a");
  world.pool.enqueue("b");
  const TimePoint now = world.pool.store->now();
  const auto states = [&](State state) {
    const auto gpus = world.gpus();
    return std::count_if(gpus.begin(), gpus.end(),
                         [&](const Gpu& gpu) { return gpu.state == state; });
  };
  SECTION("that has just refused is left alone, and then asked once") {
    cloud.no_capacity_in_row = 1;
    cloud.last_failure = now;
    supply.ensure_for_waiters();
    CHECK(world.gpus().empty());
    cloud.last_failure = now - std::chrono::minutes(1);
    for (int i = 0; i < 3; ++i) supply.ensure_for_waiters();
    CHECK(states(State::starting) == 1);
  }
  SECTION("that failed is tried by one worker until it is ready") {
    cloud.failures_in_row = 1;
    cloud.last_failure = now - std::chrono::seconds(6);
    for (int i = 0; i < 3; ++i) supply.ensure_for_waiters();
    REQUIRE(states(State::starting) == 1);
    cloud.failures_in_row = 0;
    supply.ensure_for_waiters();
    CHECK(states(State::starting) == 2);
  }
  SECTION("nothing is known: one for each waiter") {
    supply.ensure_for_waiters();
    CHECK(states(State::starting) == 2);
  }
}

TEST_CASE("what was refused before it was made takes nobody's place under the cap") {
  World world;
  Gpu refused = world.put(Source::cloud, State::failed);
  Supply supply = world.supply({.cloud = CloudSwitch::on, .max_gpus = 1});
  CHECK(supply.provision(world.pool.store->view(), "test").operation == Operation::create);
  CHECK(supply.provision(world.pool.store->view(), "test").operation == Operation::none);
}

TEST_CASE("in an outage of the cloud other sources come first, then one pod at a time") {
  World world;
  world.host({"cpu"});
  const Gpu paused = world.put(Source::cloud, State::paused, 1);
  Outages outages;
  outages[Origin::runpod] = {.on = true, .since = world.pool.store->now()};
  REQUIRE(replace_outages(*world.pool.store, {}, outages));
  Supply supply = world.supply({.cloud = CloudSwitch::on});
  const auto next = [&] { return supply.provision(world.pool.store->view(), "test"); };
  CHECK(next().source == Source::local);
  CHECK(next().gpu == paused.id);
  CHECK_THAT(next().why, Catch::Contains("one at a time"));
  const Gpu woken = world.pool.row(paused);
  REQUIRE(world.pool.store->change({.id = woken.id, .version = woken.version, .event = Event::fail},
                                   {"test", "it did not answer"}));
  CHECK(next().operation == Operation::create);
  CHECK(next().operation == Operation::none);

  REQUIRE(replace_outages(*world.pool.store, outages, {}));
  CHECK(next().operation == Operation::create);
}
