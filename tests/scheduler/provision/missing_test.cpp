// What becomes of rows that a successful list lacks.
#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "scheduler/provision/reconciler/reconciler.h"
#include "tests/scheduler/provision/scripted_provider.h"
#include "tests/scheduler/small_pool.h"

using namespace navtalk;
using namespace navtalk::tests;
using Status = Instance::Status;

namespace {

constexpr Duration k_hour = std::chrono::hours(1);

struct World {
  explicit World(Source source = Source::cloud) : provider(source) {}

  SmallPool pool;
  ScriptedProvider provider;
  Reconciler reconciler{*pool.store, provider, options()};

  ReconcilerOptions options() const {
    return {.identity = pool.identity, .who = "test", .orphan_grace = {}, .consistency_window = {}};
  }
  // A row with its instance, which a list may lack.
  Gpu pod(const std::string& id, State state = State::idle) {
    const Gpu gpu = pool.pod(state, id);
    provider.put(
        {.provider_id = id, .name = gpu.name, .status = Status::running, .usd_per_hour = 0.5});
    return gpu;
  }
  std::vector<Gpu> pods(int number) {
    std::vector<Gpu> gpus;
    for (int i = 0; i < number; ++i) gpus.push_back(pod("pod-" + std::to_string(i)));
    return gpus;
  }
  void unlist(const std::vector<Gpu>& gpus) {
    std::set<std::string> ids;
    for (const Gpu& gpu : gpus) ids.insert(gpu.provider_id);
    provider.unlist(ids);
  }
  void answered(const Gpu& gpu, Duration ago) {
    pool.store->seen({{gpu.id}}, pool.store->now() - ago);
  }
  bool same(const Gpu& gpu) { return pool.row(gpu).version == gpu.version; }
  bool paid(const Gpu& gpu) {
    const auto ledger = pool.store->ledger({});
    return std::any_of(ledger.begin(), ledger.end(), [&](const PaidSpan& span) {
      return span.gpu == gpu.id && !span.to && span.usd_per_hour > 0;
    });
  }
  bool gone(const Gpu& gpu) {
    const Gpu row = pool.row(gpu);
    return row.state == State::failed && row.usd_per_hour <= 0 && !paid(gpu);
  }
};

}  // namespace

TEST_CASE("lists without any GPU change nothing while the provider knows their ids") {
  World world;
  const std::vector<Gpu> gpus = world.pods(5);
  world.unlist(gpus);
  for (int i = 0; i < 4; ++i) CHECK_FALSE(world.reconciler.pass({}));
  CHECK(world.reconciler.next_pass() <= std::chrono::seconds(10));
  for (const Gpu& gpu : gpus) {
    CHECK(world.same(gpu));
    CHECK(world.paid(gpu));
  }
  CHECK(world.pool.store->view().gpus.size() == 5);
  world.provider.unlist({});
  CHECK(world.reconciler.pass({}));
}

TEST_CASE("a GPU whose worker answers is not gone, whatever its provider says") {
  World world;
  const Gpu gpu = world.pod("pod-1");
  world.provider.lose("pod-1");
  const bool just_now = GENERATE(true, false);
  // Its last probe was good, or one has failed since.
  world.answered(gpu, just_now ? Duration(std::chrono::seconds(3)) : k_hour);
  if (just_now) world.pool.store->missed({{gpu.id, "502"}}, world.pool.store->now());
  for (int i = 0; i < 3; ++i) CHECK_FALSE(world.reconciler.pass({}));
  CHECK(world.same(gpu));
  CHECK(world.paid(gpu));
  CHECK(world.provider.lookups().empty());
}

TEST_CASE("a GPU whose worker stopped answering long ago, and which nobody knows, is gone") {
  World world;
  const Gpu gpu = world.pod("pod-1");
  world.provider.lose("pod-1");
  world.answered(gpu, k_hour);
  world.pool.store->missed({{gpu.id, "502"}}, world.pool.store->now());
  world.reconciler.pass({});
  CHECK(world.same(gpu));
  world.reconciler.pass({});
  CHECK(world.gone(gpu));
}

TEST_CASE("a worker that answers while the ids are asked for saves its GPU") {
  World world;
  const Gpu gpu = world.pod("pod-1");
  world.provider.lose("pod-1");
  world.reconciler.pass({});
  world.provider.during_lookup([&] { world.answered(gpu, {}); });
  world.reconciler.pass({});
  CHECK(world.same(gpu));
}

TEST_CASE("an id that the provider does not answer about proves nothing") {
  World world;
  const Gpu gpu = world.pod("pod-1");
  world.provider.lose("pod-1");
  world.provider.mute({"pod-1"});
  for (int i = 0; i < 4; ++i) CHECK_FALSE(world.reconciler.pass({}));
  CHECK(world.same(gpu));
  CHECK(world.paid(gpu));
  CHECK(world.reconciler.next_pass() <= std::chrono::seconds(10));
}

TEST_CASE("of the GPUs that a list lacks only those without a known id are gone") {
  World world;
  const Gpu listed = world.pod("pod-1"), unlisted = world.pod("pod-2"), mute = world.pod("pod-3"),
            deleted = world.pod("pod-4"), doomed = world.pod("pod-5", State::stopping);
  REQUIRE(world.pool.store->change({.id = doomed.id,
                                    .version = doomed.version,
                                    .intent = next_intent(doomed, Operation::destroy, {})},
                                   {"test", "destroy"}));
  world.answered(doomed, {});  // which proves nothing while it ends
  world.provider.unlist({"pod-2"});
  world.provider.mute({"pod-3"});
  for (const char* id : {"pod-3", "pod-4", "pod-5"}) world.provider.lose(id);
  world.reconciler.pass({});
  CHECK(world.same(deleted));
  world.reconciler.pass({});
  for (const Gpu& gpu : {listed, unlisted, mute}) {
    CHECK(world.same(gpu));
    CHECK(world.paid(gpu));
  }
  CHECK(world.gone(deleted));
  CHECK_FALSE(world.pool.store->find(doomed.id));
  CHECK_FALSE(world.paid(doomed));
}

TEST_CASE("a pass asks for a few ids, and passes of any process reach all of them in turn") {
  World world;
  const std::vector<Gpu> gpus = world.pods(20);
  const bool exist = GENERATE(true, false);
  if (exist) world.unlist(gpus);
  for (const Gpu& gpu : gpus) {
    if (!exist) world.provider.lose(gpu.provider_id);
  }
  const auto pass = [&] {
    Reconciler(*world.pool.store, world.provider, world.options()).pass({});
  };
  const auto failed = [&] {
    const auto rows = world.pool.store->view().gpus;
    return std::count_if(rows.begin(), rows.end(),
                         [](const Gpu& row) { return row.state == State::failed; });
  };
  const auto asked = [&] {
    const auto ids = world.provider.lookups();
    return std::set<std::string>(ids.begin(), ids.end()).size();
  };
  pass();
  CHECK(world.provider.lookups().size() == 8);
  pass();
  CHECK(world.provider.lookups().size() == 16);
  CHECK(asked() == 16);
  CHECK(failed() == 0);  // none was asked for twice
  for (int i = 0; i < 4; ++i) pass();
  CHECK(asked() == 20);
  CHECK(failed() == (exist ? 0 : 20));
}

TEST_CASE("a pass gives up asking when the provider does not answer, and the next one goes on") {
  World world;
  const std::vector<Gpu> gpus = world.pods(6);
  for (const Gpu& gpu : gpus) world.provider.lose(gpu.provider_id);
  world.provider.mute({"pod-0", "pod-1", "pod-2", "pod-3", "pod-4", "pod-5"});
  world.reconciler.pass({});
  CHECK(world.provider.lookups().size() == 3);
  world.reconciler.pass({});
  const auto ids = world.provider.lookups();
  CHECK(std::set<std::string>(ids.begin(), ids.end()).size() == 6);
}

TEST_CASE("a short list gives up neither a create nor an orphan that was observed") {
  World world;
  const Gpu known = world.pod("pod-1");
  Gpu created = new_gpu(world.pool.identity, Source::cloud);
  created.intent = {.operation = Operation::create,
                    .number = 1,
                    .until = world.pool.store->now(),
                    .called = true};
  created = world.pool.add(created);
  world.provider.put({.provider_id = "pod-9",
                      .name = world.pool.identity.own_prefix() + "lost",
                      .status = Status::running,
                      .usd_per_hour = 0.5});
  world.provider.unlist({"pod-1"});
  world.reconciler.pass({});
  CHECK(world.pool.row(created).state == State::starting);
  world.provider.unlist({"pod-1", "pod-9"});
  world.reconciler.pass({});
  CHECK(world.pool.row(created).state == State::starting);
  world.provider.unlist({});
  CHECK(world.reconciler.pass({}));
  CHECK(world.pool.row(created).state == State::failed);
  // Observed in the first pass and in the third.
  CHECK(world.pool.store->view().gpus.size() == 3);
  CHECK(world.same(known));
}

TEST_CASE("what the provider says of an id counts as listed") {
  World world;
  const Gpu gpu = world.pod("pod-1");
  world.provider.put({.provider_id = "pod-1", .name = gpu.name, .status = Status::stopped});
  world.provider.unlist({"pod-1"});
  world.reconciler.pass({});
  CHECK(world.pool.row(gpu).state == State::failed);
  CHECK(world.paid(gpu));
}

TEST_CASE("a GPU of a local process that ended is gone although it answered a moment before") {
  World world(Source::local);
  Gpu gpu = new_gpu(world.pool.identity, Source::local);
  gpu.state = State::idle;
  gpu.provider_id = "1/1/1";
  gpu = world.pool.add(gpu);
  world.answered(gpu, {});
  world.reconciler.pass({});
  world.reconciler.pass({});
  CHECK(world.pool.row(gpu).state == State::failed);
}

TEST_CASE("a failed GPU costs money until its provider does not know it") {
  World world;
  const Gpu gpu = world.pod("pod-1", State::failed);
  world.unlist({gpu});
  for (int i = 0; i < 3; ++i) world.reconciler.pass({});
  CHECK(world.paid(gpu));
  world.provider.lose("pod-1");
  for (int i = 0; i < 2; ++i) world.reconciler.pass({});
  CHECK(world.gone(gpu));
}

TEST_CASE("the ledger has no gap for a GPU that was taken for gone and appears again") {
  World world;
  const Gpu gpu = world.pod("pod-1");
  const Instance instance = world.provider.instances().at(0);
  world.provider.lose("pod-1");
  for (int i = 0; i < 2; ++i) world.reconciler.pass({});
  REQUIRE(world.gone(gpu));
  world.provider.put(instance);
  world.reconciler.pass({});
  CHECK(world.pool.row(gpu).usd_per_hour == 0.5);
  const auto ledger = world.pool.store->ledger({});
  REQUIRE(ledger.size() == 2);
  CHECK(ledger[0].to == ledger[1].from);
  CHECK_FALSE(ledger[1].to);
}

TEST_CASE("a GPU that exists keeps its price when the provider shows none") {
  World world;
  const Gpu paused = world.pod("pod-1", State::paused);
  world.provider.put({.provider_id = "pod-1", .name = paused.name, .status = Status::running});
  Gpu created = new_gpu(world.pool.identity, Source::cloud);
  created.usd_per_hour = 0.7;
  created.intent = {.operation = Operation::create,
                    .number = 1,
                    .until = world.pool.store->now(),
                    .called = true};
  created = world.pool.add(created);
  world.provider.put({.provider_id = "pod-2", .name = created.name});
  world.provider.put({.provider_id = "pod-3", .name = world.pool.identity.own_prefix() + "lost"});
  for (int i = 0; i < 2; ++i) world.reconciler.pass({});
  CHECK(world.pool.row(paused).usd_per_hour == 0.5);
  CHECK(world.pool.row(created).usd_per_hour == 0.7);
  const auto gpus = world.pool.store->view().gpus;
  REQUIRE(gpus.size() == 3);
  CHECK(gpus[2].usd_per_hour == world.provider.expected_usd_per_hour());
  for (const Gpu& gpu : gpus) CHECK(world.paid(gpu));
}

TEST_CASE("an instance is as young as its create, not as its row") {
  World world;
  ReconcilerOptions options = world.options();
  options.consistency_window = std::chrono::seconds(90);
  Reconciler reconciler(*world.pool.store, world.provider, options);
  Gpu gpu = new_gpu(world.pool.identity, Source::cloud);
  gpu.provider_id = "pod-1";
  gpu.usd_per_hour = 0.5;
  gpu.created_at = world.pool.store->now() - k_hour;
  const bool late = GENERATE(true, false);
  const TimePoint called = late ? world.pool.store->now() : gpu.created_at;
  gpu = world.pool.store->add({.gpu = gpu, .paid_since = called}, {"test", "put"}).value();
  for (int i = 0; i < 3; ++i) reconciler.pass({});
  CHECK(world.same(gpu) == late);
}
