// Two clouds of which one does not list its GPUs: what becomes of the rows of both.
#include <algorithm>
#include <catch2/catch.hpp>

#include "scheduler/provision/clouds/several_clouds.h"
#include "scheduler/provision/reconciler/reconciler.h"
#include "tests/scheduler/provision/scripted_provider.h"
#include "tests/scheduler/small_pool.h"

using namespace navtalk;
using namespace navtalk::tests;

namespace {

struct HalfBrokenWorld {
  HalfBrokenWorld() {
    auto a = std::make_unique<ScriptedProvider>(Source::cloud);
    auto b = std::make_unique<ScriptedProvider>(Source::cloud);
    cluster = a.get();
    runpod = b.get();
    std::vector<OneCloud> both;
    both.push_back({Origin::kubernetes, std::move(a)});
    both.push_back({Origin::runpod, std::move(b)});
    clouds = std::make_unique<SeveralClouds>(std::move(both), false);
    reconciler = std::make_unique<Reconciler>(*pool.store, *clouds,
                                              ReconcilerOptions{.identity = pool.identity,
                                                                .who = "test",
                                                                .orphan_grace = {},
                                                                .consistency_window = {}});
    runpod->list_fails(true);
  }
  Gpu pod(ScriptedProvider& cloud, const std::string& id) {
    const Gpu gpu = pool.pod(State::idle, id);
    cloud.put({.provider_id = id,
               .name = gpu.name,
               .status = Instance::Status::running,
               .usd_per_hour = 0.5});
    return gpu;
  }
  void pass(int times) {
    for (int i = 0; i < times; ++i) {
      whole = reconciler->pass({});
    }
  }

  SmallPool pool;
  ScriptedProvider *cluster, *runpod;
  std::unique_ptr<SeveralClouds> clouds;
  std::unique_ptr<Reconciler> reconciler;
  bool whole = true;
};

}  // namespace

TEST_CASE("a pod that is gone fails also while another cloud does not answer") {
  HalfBrokenWorld world;
  const Gpu there = world.pod(*world.cluster, "kubernetes/gpus/a/1");
  const Gpu evicted = world.pod(*world.cluster, "kubernetes/gpus/b/2");
  world.cluster->lose(evicted.provider_id);
  world.pass(3);
  CHECK_FALSE(world.whole);
  CHECK(world.reconciler->failed_list() == "runpod: no answer");
  CHECK(world.pool.row(evicted).state == State::failed);
  CHECK(world.pool.row(evicted).usd_per_hour <= 0);
  CHECK(world.pool.row(there).state == State::idle);
}

TEST_CASE("a cloud that does not answer loses no GPU, and is not asked for each of them") {
  HalfBrokenWorld world;
  const Gpu pod = world.pod(*world.runpod, "abc");
  world.pass(5);
  CHECK(world.pool.row(pod).version == pod.version);
  CHECK(world.runpod->lookups().empty());
  // It was gone meanwhile: counted only from lists that would have shown it.
  world.runpod->lose(pod.provider_id);
  world.pass(5);
  CHECK(world.pool.row(pod).state == State::idle);
  world.runpod->list_fails(false);
  world.pass(1);
  CHECK(world.pool.row(pod).state == State::idle);
  world.pass(1);
  CHECK(world.pool.row(pod).state == State::failed);
}

TEST_CASE("an orphan is adopted also while another cloud does not answer") {
  HalfBrokenWorld world;
  world.cluster->put({.provider_id = "kubernetes/gpus/c/3",
                      .name = new_gpu(world.pool.identity, Source::cloud).name,
                      .status = Instance::Status::running,
                      .usd_per_hour = 0.5});
  world.pass(2);
  const auto gpus = world.pool.store->view().gpus;
  REQUIRE(gpus.size() == 1);
  CHECK(gpus.front().provider_id == "kubernetes/gpus/c/3");
}

TEST_CASE("what was seen of an orphan stays seen while its cloud does not answer") {
  HalfBrokenWorld world;
  world.runpod->list_fails(false);
  world.runpod->put({.provider_id = "abc",
                     .name = new_gpu(world.pool.identity, Source::cloud).name,
                     .status = Instance::Status::running,
                     .usd_per_hour = 0.5});
  world.pass(1);
  world.runpod->list_fails(true);
  world.pass(3);
  CHECK(world.pool.store->view().gpus.empty());
  world.runpod->list_fails(false);
  world.pass(1);
  CHECK(world.pool.store->view().gpus.size() == 1);
}

TEST_CASE("a create without an answer has had no effect only when every cloud lists its GPUs") {
  HalfBrokenWorld world;
  const TimePoint past = world.pool.store->now() - std::chrono::minutes(5);
  Gpu gpu = new_gpu(world.pool.identity, Source::cloud);
  gpu.state = State::starting;
  gpu.intent = {.operation = Operation::create, .number = 1, .since = past};
  gpu.intent.until = past;
  gpu.intent.called = true;
  gpu = world.pool.add(gpu);
  world.pass(3);
  CHECK(world.pool.row(gpu).intent.operation == Operation::create);
  // The cloud that does answer may have made it.
  SECTION("it was made where lists are had") {
    world.cluster->put({.provider_id = "kubernetes/gpus/d/4",
                        .name = gpu.name,
                        .status = Instance::Status::running,
                        .usd_per_hour = 0.5});
    world.pass(1);
    CHECK(world.pool.row(gpu).provider_id == "kubernetes/gpus/d/4");
  }
  SECTION("it was made nowhere") {
    world.runpod->list_fails(false);
    world.pass(1);
    CHECK(world.pool.row(gpu).state == State::failed);
  }
}
