// How many slots offline work wants, and what it does to the pool.
#include "scheduler/service/batch_lane.h"

#include <catch2/catch.hpp>

#include "scheduler/pool/offline_demand.h"
#include "tests/scheduler/jobs/job_contract.h"
#include "tests/scheduler/small_pool.h"

using namespace navtalk;
using namespace navtalk::tests;
using namespace std::chrono_literals;

namespace {

struct LaneWorld {
  SmallPool pool;
  std::string url = "sqlite:" + (pool.folder / "pool.db").native();
  JobStore jobs{StoreBackend::open(url)};
  TenantStore tenants{StoreBackend::open(url)};
  DemandTracker demand_tracker{*pool.store};
  Supply supply{*pool.store, {.identity = pool.identity, .who = "test"}};

  LaneWorld() {
    register_host(*pool.store,
                  {.name = "here", .devices = {"cpu", "cuda:0"}, .slots_per_device = 1}, 1min);
  }
  BatchLane lane(BatchLaneOptions options) {
    options.who = "gateway";
    return {{*pool.store, tenants, supply, demand_tracker}, options};
  }
  int wanted() { return read_offline_demand(*pool.store).slots; }
  std::size_t gpus() { return pool.store->view().gpus.size(); }
  Job submit(Duration work = 2min) {
    NewJob job = new_job("ada");
    job.work = VideoMinutes(work);
    return jobs.submit(job, k_user, jobs.now()).job;
  }
  // What a GPU renders in so much time, as one job has taught; as fast as this machine happens to be.
  Duration rendered_in(BatchLane& lane, Duration time) {
    if (tenants.division().capacity.rate == 0) {
      submit(6s);
      lane.turn();
      const auto run = jobs.claim("w", by_priority, jobs.now());
      REQUIRE(run);
      REQUIRE(jobs.finish({run->id, run->epoch}, "{}", jobs.now()) == Recorded::now);
      lane.turn();
    }
    const double rate = tenants.division().capacity.rate;
    REQUIRE(rate > 0);
    return from_seconds(in_seconds(time) * rate);
  }
};

}  // namespace

TEST_CASE("the first job starts a GPU at once, and no second one while that starts") {
  LaneWorld world;
  BatchLane lane = world.lane({.max_gpus = 4});
  lane.turn();
  CHECK(world.wanted() == 0);
  CHECK(world.gpus() == 0);
  world.submit();
  lane.turn();
  CHECK(world.wanted() == 1);
  REQUIRE(world.gpus() == 1);
  CHECK(world.pool.store->view().gpus.front().state == State::starting);
  lane.turn();
  CHECK(world.gpus() == 1);
}

TEST_CASE("without a cloud the lane counts on no more slots than there are") {
  LaneWorld world;
  const auto counted_on = [&](BatchLaneOptions options) {
    world.submit();
    BatchLane lane = world.lane(options);
    lane.turn();
    return world.tenants.division().capacity.gpus;
  };
  CHECK(counted_on({.max_gpus = 4, .reserve = 3, .local_slots = 2}) == 2);
  CHECK(counted_on({.max_gpus = 1, .local_slots = 2}) == 1);
  CHECK(counted_on({.max_gpus = 4, .reserve = 3, .local_slots = 2, .grows_at = Source::cloud}) ==
        7);
  CHECK(counted_on({.max_gpus = 0, .local_slots = 0}) == 1);
}

TEST_CASE("without a cloud the lane counts on lent slots, and not on those of users") {
  LaneWorld world;
  Gpu gpu = new_gpu(world.pool.identity, Source::local);
  gpu.state = State::idle;
  gpu.slots = 4;
  gpu.url = "http://127.0.0.1:9";
  world.pool.add(gpu);
  world.submit();
  const auto counted_on = [&](BatchLaneOptions options) {
    BatchLane lane = world.lane(options);
    lane.turn();
    return world.tenants.division().capacity.gpus;
  };
  CHECK(counted_on({.max_gpus = 8}) == 4);
  REQUIRE(
      world.pool.store->claim({.id = {"job"}, .gateway = "gateway", .lane = Lane::batch}, 1min));
  CHECK(counted_on({.max_gpus = 8}) == 4);
  REQUIRE(world.pool.claim("a"));
  CHECK(counted_on({.max_gpus = 8}) == 3);
  CHECK(counted_on({.max_gpus = 2}) == 2);
  CHECK(counted_on({.max_gpus = 8, .keep_free = 2}) == 1);
  REQUIRE(world.pool.claim("b"));
  REQUIRE(world.pool.claim("c"));
  CHECK(counted_on({.max_gpus = 2}) == 1);
}

TEST_CASE("of the slots that users leave the lane keeps some free from a flood") {
  LaneWorld world;
  Gpu gpu = new_gpu(world.pool.identity, Source::local);
  gpu.state = State::idle;
  gpu.slots = 16;
  gpu.url = "http://127.0.0.1:9";
  world.pool.add(gpu);
  REQUIRE(
      world.pool.store->claim({.id = {"job"}, .gateway = "gateway", .lane = Lane::batch}, 10min));
  for (const char* user : {"a", "b", "c", "d"}) REQUIRE(world.pool.claim(user));
  for (int i = 0; i < 40; ++i) world.submit(1h);
  NewJob other = new_job("ada");
  other.spec.tenant = {"other"};
  world.jobs.submit(other, k_user, world.jobs.now());
  BatchLane lane = world.lane({.max_gpus = 100, .reserve = 16, .local_slots = 40});
  const auto claim = [&] {
    lane.turn();
    return world.jobs.claim("w", by_shares(), std::nullopt);
  };
  for (const TenantId& tenant : {TenantId{"acme"}, TenantId{"other"}})
    world.jobs.release(tenant, k_any_work, 100, k_user, world.jobs.now());
  int claims = 0;
  while (claim()) ++claims;
  CHECK(claims == 11);  // one of twelve is kept
}

TEST_CASE("jobs that may start no GPU want none") {
  LaneWorld world;
  BatchLane lane = world.lane({.max_gpus = 0, .reserve = 1});
  world.submit();
  lane.turn();
  CHECK(world.wanted() == 0);
  CHECK(world.gpus() == 0);
  CHECK(world.jobs.has_claimable(world.jobs.now()));
}

TEST_CASE(
    "the lane grows when work lasts longer than starts, by one slot a job, up to its maximum") {
  LaneWorld world;
  BatchLane lane = world.lane({.max_gpus = 5});
  const Duration short_work = world.rendered_in(lane, 1s);
  CHECK(world.wanted() == 1);
  world.submit(short_work);
  world.submit(short_work);
  lane.turn();
  CHECK(world.wanted() == 1);
  for (int i = 0; i < 2; ++i) world.submit(world.rendered_in(lane, 1h));
  lane.turn();
  CHECK(world.wanted() == 4);
  for (int i = 0; i < 10; ++i) world.submit(world.rendered_in(lane, 1h));
  lane.turn();
  CHECK(world.wanted() == 5);
}

TEST_CASE(
    "slots are wanted for the hold after the last work, and not by a gateway that has ended") {
  LaneWorld world;
  BatchLane lane = world.lane({.max_gpus = 2, .hold = 0s});
  const Job job = world.submit();
  lane.turn();
  REQUIRE(world.wanted() == 1);
  const OfflineDemand said = read_offline_demand(*world.pool.store);
  CHECK(wanted_slots(said, said.said_at + k_offline_demand_lasts - 1s) == 1);
  CHECK(wanted_slots(said, said.said_at + k_offline_demand_lasts) == 0);
  world.jobs.cancel(job.id, k_user, world.jobs.now());
  world.lane({.max_gpus = 2, .hold = 1h}).turn();
  CHECK(world.wanted() == 1);
  DemandTracker slow{*world.pool.store, {.create = {10h, 10h, 10h}}};
  BatchLane slow_lane{{*world.pool.store, world.tenants, world.supply, slow},
                      {.who = "gateway", .max_gpus = 2, .hold = 0s}};
  slow_lane.turn();
  CHECK(world.wanted() == 1);  // for a cold start, while nothing is known of its gaps
  OfflineDemand known = read_offline_demand(*world.pool.store);
  known.gap = 1h;
  write_offline_demand(*world.pool.store, known);
  world.lane({.max_gpus = 2, .hold = 0s}).turn();
  CHECK(world.wanted() == 0);
}

TEST_CASE("what the lane remembers is kept for the next process") {
  LaneWorld world;
  const OfflineDemand demand{.slots = 3,
                             .said_at = world.jobs.now(),
                             .worked_at = world.jobs.now() - 5s,
                             .needed = 2.5,
                             .sampled_at = world.jobs.now() - 7s,
                             .gap = 90s};
  write_offline_demand(*world.pool.store, demand);
  CHECK(read_offline_demand(*world.pool.store) == demand);
  world.pool.store->set_setting("offline.demand", R"({"slots": 2, "said_us": 1, "worked_us": 2})");
  CHECK(read_offline_demand(*world.pool.store).slots == 2);
  CHECK(read_offline_demand(*world.pool.store).needed == 0);
}

TEST_CASE("a lane wants no GPU while the slots that users leave in reserve take its jobs") {
  LaneWorld world;
  Gpu gpu = new_gpu(world.pool.identity, Source::local);
  gpu.state = State::idle;
  gpu.slots = 2;
  gpu.url = "http://127.0.0.1:9";
  world.pool.add(gpu);
  BatchLane lane = world.lane({.max_gpus = 4, .reserve = 2});
  world.submit();
  lane.turn();
  CHECK(world.wanted() == 0);
  CHECK(world.gpus() == 1);
  SECTION("and one where users have them") {
    REQUIRE(world.pool.claim("a"));
    REQUIRE(world.pool.claim("b"));
    lane.turn();
    CHECK(world.wanted() == 1);
    CHECK(world.gpus() == 2);
  }
  SECTION("and one for each job beyond the reserve, which the scaler would end") {
    BatchLane without = world.lane({.max_gpus = 4});
    without.turn();
    CHECK(world.wanted() == 1);
    CHECK(world.gpus() == 1);
  }
}

TEST_CASE("the lane says which slots promises may count on") {
  LaneWorld world;
  BatchLane lane = world.lane({.max_gpus = 4});
  const auto supply = [&] { return world.tenants.division().supply; };
  lane.turn();
  CHECK(supply().ready == 0);
  CHECK(supply().most == 4);
  CHECK(supply().cold_start > 0s);
  world.submit();
  lane.turn();
  lane.turn();
  CHECK(supply().starting == 1);
  const Gpu gpu = world.pool.store->view().gpus.front();
  CHECK(supply().next_at == gpu.since + supply().cold_start);
}
