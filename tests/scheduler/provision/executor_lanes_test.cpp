// Calls that hang: what they may delay, and when they end. Nothing here waits for a time to pass.
#include <catch2/catch.hpp>
#include <condition_variable>
#include <set>
#include <thread>

#include "scheduler/provision/executor/executor.h"
#include "tests/scheduler/provision/scripted_provider.h"
#include "tests/scheduler/small_pool.h"

using namespace navtalk;
using namespace navtalk::tests;

namespace {

constexpr Duration k_long = std::chrono::seconds(20);

// Calls of the chosen kinds hang until the test opens the gate or they are asked to stop.
class HangingProvider : public ScriptedProvider {
 public:
  using ScriptedProvider::ScriptedProvider;

  void hang(Operation operation) {
    const std::lock_guard lock(mutex_);
    hangs_.insert(operation);
  }
  void open() {
    const std::lock_guard lock(mutex_);
    hangs_.clear();
    changed_.notify_all();
  }
  bool wait_until_hanging(int calls, Duration at_most = k_long) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, at_most, [&] { return hanging_ == calls; });
  }

  Outcome create(const Gpu& gpu, const std::stop_token& stop) override {
    if (!pass(Operation::create, stop)) return UnknownOutcome{"stopped"};
    return ScriptedProvider::create(gpu, stop);
  }
  Outcome wake(const Gpu& gpu, const std::stop_token& stop) override {
    if (!pass(Operation::wake, stop)) return UnknownOutcome{"stopped"};
    return ScriptedProvider::wake(gpu, stop);
  }
  Outcome destroy(const Gpu& gpu, const std::stop_token& stop) override {
    if (!pass(Operation::destroy, stop)) return UnknownOutcome{"stopped"};
    return ScriptedProvider::destroy(gpu, stop);
  }

 private:
  // False: asked to stop.
  bool pass(Operation operation, const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    ++hanging_;
    changed_.notify_all();
    const bool open = changed_.wait(lock, stop, [&] { return !hangs_.contains(operation); });
    --hanging_;
    return open;
  }

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::set<Operation> hangs_;
  int hanging_ = 0;
};

struct World {
  SmallPool pool;
  HangingProvider cloud{Source::cloud}, local{Source::local};
  ExecutorOptions options{.owner = this_process(), .host = "here", .threads = 2};
  std::optional<Executor> executor{};

  void begin() {
    if (!executor) {
      executor.emplace(*pool.store, std::vector<Provider*>{&cloud, &local}, options, [] {});
    }
    executor->step();
  }
  // A row with an instance, which wants that.
  Gpu there(HangingProvider& provider, Operation operation) {
    Gpu gpu = new_gpu(pool.identity, provider.source());
    gpu.provider_id = "pod of " + gpu.id.text;
    gpu.state = operation == Operation::wake ? State::starting : State::stopping;
    if (provider.source() == Source::local) gpu.host = "here";
    provider.put({.provider_id = gpu.provider_id, .name = gpu.name});
    return pool.wanting(provider.source(), operation, gpu);
  }
  bool settled(const Gpu& gpu) {
    const std::optional<Gpu> row = pool.store->find(gpu.id);
    return !row || row->intent.operation == Operation::none;
  }
  static bool comes(const std::function<bool()>& so) {
    const auto end = std::chrono::steady_clock::now() + k_long;
    while (!so()) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::yield();
    }
    return true;
  }
};

}  // namespace

TEST_CASE("creates that hang delay no delete, wake or pause, there or at another provider") {
  World world;
  world.cloud.hang(Operation::create);
  std::vector<Gpu> creates;
  for (int i = 0; i < 5; ++i) {  // more than the lane has threads
    creates.push_back(world.pool.wanting(Source::cloud, Operation::create));
  }
  world.begin();
  REQUIRE(world.cloud.wait_until_hanging(2));

  const std::vector<Gpu> others = {
      world.there(world.cloud, Operation::destroy), world.there(world.cloud, Operation::wake),
      world.there(world.cloud, Operation::pause), world.there(world.local, Operation::wake),
      world.there(world.local, Operation::destroy)};
  world.begin();
  for (const Gpu& other : others) {
    CAPTURE(name(other.source), name(other.intent.operation));
    CHECK(World::comes([&] { return world.settled(other); }));
  }
  for (const Gpu& gpu : creates) CHECK_FALSE(world.settled(gpu));

  world.cloud.open();
  REQUIRE(world.executor->wait_idle(k_long, {}));
  for (const Gpu& gpu : creates) CHECK_FALSE(world.pool.row(gpu).provider_id.empty());
}

TEST_CASE("deletes that hang delay no create") {
  World world;
  world.cloud.hang(Operation::destroy);
  for (int i = 0; i < 3; ++i) world.there(world.cloud, Operation::destroy);
  const Gpu wanted = world.pool.wanting(Source::cloud, Operation::create);
  world.begin();
  CHECK(World::comes([&] { return world.settled(wanted); }));
  REQUIRE(world.cloud.wait_until_hanging(2));
}

TEST_CASE("calls that hang delay no other call of their kind") {
  World world;
  world.options.slow = {};  // so a call is slow from its beginning
  const Operation operation = GENERATE(Operation::create, Operation::wake, Operation::destroy);
  world.cloud.hang(operation);
  std::vector<Gpu> rows;
  for (int i = 0; i < 5; ++i) {  // more than the lane has threads
    rows.push_back(operation == Operation::create ? world.pool.wanting(Source::cloud, operation)
                                                  : world.there(world.cloud, operation));
  }
  CHECK(World::comes([&] {
    world.begin();
    return world.cloud.wait_until_hanging(5, {});
  }));
  world.cloud.open();
  REQUIRE(world.executor->wait_idle(k_long, {}));
  for (const Gpu& gpu : rows) CHECK(world.settled(gpu));
}

TEST_CASE("a row is in one call at a time, whatever it asks for next") {
  World world;
  world.cloud.hang(Operation::create);
  Gpu gpu = new_gpu(world.pool.identity, Source::cloud);
  gpu.usd_per_hour = 0.5;
  gpu = world.pool.wanting(Source::cloud, Operation::create, gpu);
  world.begin();
  REQUIRE(world.cloud.wait_until_hanging(1));
  const Gpu row = world.pool.row(gpu);
  REQUIRE(world.pool.store->change(
      {.id = row.id,
       .version = row.version,
       .event = Event::destroy,
       .intent = next_intent(row, Operation::destroy, world.pool.store->now())},
      {"test", "not wanted any more"}));
  CHECK(world.executor->step());
  CHECK(world.cloud.calls(Operation::destroy) == 0);
  // What the create made is found by its name, and destroyed.
  world.cloud.open();
  REQUIRE(world.executor->wait_idle(k_long, {}));
  CHECK(world.cloud.instances().size() == 1);
  world.begin();
  REQUIRE(world.executor->wait_idle(k_long, {}));
  CHECK(world.cloud.instances().empty());
  CHECK_FALSE(world.pool.store->find(gpu.id));
}

TEST_CASE("a call past its deadline ends as unknown, and its thread serves the next") {
  World world;
  world.options.threads = 1;
  world.options.deadline.fill(Duration{});
  const Operation operation = GENERATE(Operation::create, Operation::wake, Operation::destroy);
  world.cloud.hang(operation);
  const auto wanted = [&] {
    return operation == Operation::create ? world.pool.wanting(Source::cloud, operation)
                                          : world.there(world.cloud, operation);
  };
  const Gpu late = wanted();
  world.begin();
  REQUIRE(world.cloud.wait_until_hanging(1));
  world.begin();
  REQUIRE(world.executor->wait_idle(k_long, {}));

  const Gpu row = world.pool.row(late);
  CHECK(row.intent.operation == operation);
  CHECK(row.intent.owner.empty());
  CHECK(row.last_error == "stopped");
  CHECK(row.intent.called);
  world.cloud.open();
  const Gpu next = wanted();
  world.begin();
  REQUIRE(world.executor->wait_idle(k_long, {}));
  CHECK(world.settled(next));
  // The others are called again; for what a create may have made, the reconciler looks.
  if (operation == Operation::create) CHECK_FALSE(world.settled(late));
}

TEST_CASE("the end of an executor ends the calls that hang") {
  World world;
  world.cloud.hang(Operation::create);
  world.local.hang(Operation::wake);
  const Gpu create = world.pool.wanting(Source::cloud, Operation::create);
  const Gpu wake = world.there(world.local, Operation::wake);
  world.begin();
  REQUIRE(world.cloud.wait_until_hanging(1));
  REQUIRE(world.local.wait_until_hanging(1));
  world.executor.reset();
  CHECK(world.pool.row(create).intent.called);
  CHECK(world.pool.row(wake).intent.operation == Operation::wake);
}
