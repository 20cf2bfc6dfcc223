#include "scheduler/service/crashed_worker.h"

#include <catch2/catch.hpp>

#include "tests/scheduler/provision/scripted_provider.h"
#include "tests/scheduler/small_pool.h"

using namespace navtalk;
using namespace navtalk::tests;

namespace {

constexpr const char* k_who = "here's serve";

class EndedProcesses : public ScriptedProvider {
 public:
  EndedProcesses() : ScriptedProvider(Source::local) {}
  bool replaceable(const Gpu&, bool sole) override {
    was_sole = sole;
    return ended;
  }

  bool ended = true;
  bool was_sole = false;
};

struct CrashedPool {
  SmallPool pool{};
  EndedProcesses local{};

  // A worker that was ready.
  Gpu put(Gpu gpu) {
    gpu = pool.add(std::move(gpu));
    if (gpu.state == State::idle) pool.store->seen({{gpu.id}}, pool.store->now());
    return pool.row(gpu);
  }
  Gpu worker() {
    Gpu gpu = new_gpu(pool.identity, Source::local);
    gpu.state = State::idle;
    gpu.host = "here";
    gpu.device = "cpu";
    gpu.provider_id = "1:1";
    gpu.url = "http://127.0.0.1:9";
    return gpu;
  }
  void fail(const Gpu& gpu) {
    fail_crashed_worker(*pool.store, gpu.name, "signal 9", k_who);
    REQUIRE(pool.row(gpu).state == State::failed);
  }
  void release() { release_ended_workers(*pool.store, local, "here", k_who); }
};

}  // namespace

TEST_CASE("a worker that was ready, and whose process has ended, is destroyed without a hold") {
  CrashedPool world;
  const Gpu gpu = world.put(world.worker());
  world.release();
  CHECK(world.pool.row(gpu).state == State::idle);
  world.fail(gpu);
  world.release();
  CHECK(world.pool.row(gpu).state == State::stopping);
  CHECK(world.pool.row(gpu).intent.operation == Operation::destroy);
  CHECK(world.local.was_sole);
}

TEST_CASE("a failed worker is kept while its process may live, or its session does") {
  CrashedPool world;
  const Gpu gpu = world.put(world.worker());
  const auto lease = world.pool.claim("a");
  REQUIRE(lease);
  world.fail(gpu);
  world.release();
  CHECK(world.pool.row(gpu).state == State::failed);
  REQUIRE(world.pool.store->release(lease->id, lease->epoch));
  world.local.ended = false;
  world.release();
  CHECK(world.pool.row(gpu).state == State::failed);
  world.local.ended = true;
  world.release();
  CHECK(world.pool.row(gpu).state == State::stopping);
}

TEST_CASE("rows that are not a ready worker's of this host, or an operator's, keep their hold") {
  CrashedPool world;
  Gpu row = world.worker();
  SECTION("another host's") { row.host = "there"; }
  SECTION("never ready") { row.state = State::starting; }
  SECTION("a tenant's own") { row.dedicated_to = {"tenant"}; }
  SECTION("drained") { row.draining = true; }
  SECTION("of another provider") {
    row.source = Source::cloud;
    row.usd_per_hour = 1;
  }
  const Gpu gpu = world.put(row);
  world.fail(gpu);
  world.release();
  CHECK(world.pool.row(gpu).state == State::failed);
}

TEST_CASE("a provider is told whether other gateways make workers on its host") {
  CrashedPool world;
  world.fail(world.put(world.worker()));
  Host host{.name = "here", .devices = {"cpu"}, .owner = k_who};
  register_host(*world.pool.store, host, std::chrono::minutes(1));
  world.local.ended = false;
  world.release();
  CHECK(world.local.was_sole);
  host.owner = "another serve";
  register_host(*world.pool.store, host, std::chrono::minutes(1));
  world.release();
  CHECK_FALSE(world.local.was_sole);
}
