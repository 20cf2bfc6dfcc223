// The slots that promises count on: of a pool's rows, and in the store.
#include "scheduler/jobs/lanes/said_supply.h"

#include "scheduler/jobs/lanes/lent_slots.h"
#include "scheduler/jobs/promises/job_estimates.h"
#include "tests/scheduler/jobs/job_contract.h"
#include "tests/scheduler/small_pool.h"

using namespace navtalk;
using namespace navtalk::tests;
using namespace std::chrono_literals;

namespace {

constexpr TimePoint k_gpu_begun{std::chrono::hours(24 * 365)};

Gpu supply_gpu(State state, int slots, int sessions = 0, int lent = 0) {
  Gpu gpu;
  gpu.id = {"gpu"};
  gpu.source = Source::cloud;
  gpu.state = state;
  gpu.slots = slots;
  gpu.sessions = sessions;
  gpu.lent = lent;
  gpu.since = k_gpu_begun;
  return gpu;
}

Demand learnt_leads() {
  Demand demand;
  demand.create[static_cast<std::size_t>(Source::cloud)].p90 = 150s;
  demand.wake[static_cast<std::size_t>(Source::cloud)].p90 = 60s;
  return demand;
}

}  // namespace

TEST_CASE("slots that serve, without those of users, and those that start are counted apart") {
  Gpu draining = supply_gpu(State::running, 8);
  draining.draining = true;
  Gpu late = supply_gpu(State::starting, 2);
  late.since = k_gpu_begun + 30s;
  const std::vector<Gpu> gpus = {
      supply_gpu(State::running, 4, 3, 2), supply_gpu(State::idle, 1),    late,
      supply_gpu(State::starting, 1),      supply_gpu(State::failed, 9),  draining,
      supply_gpu(State::paused, 9),        supply_gpu(State::stopping, 9)};
  const LaneSupply supply =
      supply_of(gpus, learnt_leads(), Source::cloud, {.own = 3, .max_gpus = 6});
  CHECK(supply.ready == 4);
  CHECK(supply.starting == 3);
  CHECK(left_by_users(gpus, 3) == 4);
  CHECK(left_by_users(gpus, 30) == 0);
  CHECK(supply.most == 10);
  CHECK(supply.cold_start == 150s);
  CHECK(supply.next_at == k_gpu_begun + 150s);
  CHECK(supply.grows());
  const LaneSupply kept =
      supply_of(gpus, learnt_leads(), Source::cloud, {.own = 3, .max_gpus = 6, .keep_free = 3});
  CHECK(kept.ready == 1);
  const LaneSupply more =
      supply_of(gpus, learnt_leads(), Source::cloud, {.own = 3, .max_gpus = 6, .keep_free = 6});
  CHECK(more.ready == 0);
  CHECK(more.starting == 1);
  CHECK(more.most == 6);
  CHECK(kept.most == 7);
}

TEST_CASE("slots are wanted back for users who wait, and until as many are free as are kept") {
  CHECK(wanted_back(0, 0, 0) == 0);
  CHECK(wanted_back(2, 0, 0) == 2);
  CHECK(wanted_back(0, 1, 3) == 2);
  CHECK(wanted_back(2, 1, 3) == 4);
  CHECK(wanted_back(0, 4, 3) == 0);
}

TEST_CASE("the rest of a start counts where a GPU starts, otherwise all of one") {
  LaneSupply supply{.most = 2, .cold_start = 150s};
  CHECK(until_next(supply, k_gpu_begun) == 150s);
  supply.starting = 1;
  supply.next_at = k_gpu_begun + 150s;
  CHECK(until_next(supply, k_gpu_begun + 100s) == 50s);
  CHECK(until_next(supply, k_gpu_begun + 200s) == 0s);
  CHECK(until_next(supply, k_gpu_begun - 1h) == 150s);
}

TEST_CASE(
    "without a worker that serves or starts its replacement takes a start, after a failure later") {
  const auto replacement = [](std::vector<Gpu> gpus) {
    return supply_of(gpus, learnt_leads(), Source::cloud, {.failed_hold = 60s}).replacement;
  };
  CHECK(replacement({}) == 150s);
  CHECK(replacement({supply_gpu(State::failed, 1)}) == 210s);
  Gpu silent = supply_gpu(State::idle, 1);
  silent.misses = k_silent_misses;
  CHECK(replacement({silent}) == 210s);
  CHECK(replacement({supply_gpu(State::failed, 1), supply_gpu(State::running, 1, 1)}) == 0s);
  CHECK(replacement({supply_gpu(State::failed, 1), supply_gpu(State::starting, 1)}) == 0s);
  Gpu dedicated = supply_gpu(State::starting, 1);
  dedicated.dedicated_to = {"acme"};
  CHECK(replacement({dedicated}) == 150s);
  dedicated.state = State::idle;
  CHECK(replacement({dedicated}) == 150s);
  const LaneSupply supply{.cold_start = 150s, .replacement = 210s};
  CHECK(until_next(supply, k_gpu_begun) == 210s);
}

TEST_CASE(
    "a slot is believed to render a video-minute in a minute, and one of a CPU a fifth of that") {
  const auto prior = [](std::vector<Gpu> gpus, Source grows_at = Source::local) {
    return supply_of(gpus, learnt_leads(), grows_at, {}).prior_rate;
  };
  CHECK(prior({}) == k_cpu_prior_rate);
  CHECK(prior({}, Source::cloud) == k_gpu_prior_rate);
  CHECK(prior({supply_gpu(State::idle, 4)}) == k_gpu_prior_rate);
  Gpu cpu = supply_gpu(State::idle, 1);
  cpu.source = Source::local;
  cpu.device = "cpu";
  CHECK(prior({cpu}, Source::cloud) == k_cpu_prior_rate);
  CHECK(prior({cpu, supply_gpu(State::starting, 3)}) == Approx(0.8));
  CHECK(prior({cpu, supply_gpu(State::failed, 3)}) == k_cpu_prior_rate);
  Gpu asleep = supply_gpu(State::paused, 1);
  asleep.source = Source::local;
  asleep.device = "cuda:0";
  CHECK(prior({asleep}) == k_gpu_prior_rate);
  Gpu external = supply_gpu(State::idle, 1);
  external.source = Source::external;
  CHECK(prior({external}) == k_cpu_prior_rate);
  external.reading.at = k_gpu_begun;  // it has told of its GPU
  CHECK(prior({external}) == k_gpu_prior_rate);
}

TEST_CASE("a lane that has all it may have does not grow") {
  CHECK_FALSE(LaneSupply{}.grows());
  CHECK_FALSE(LaneSupply{.ready = 2, .most = 2}.grows());
  CHECK(LaneSupply{.ready = 2, .starting = 1, .most = 2}.grows());
}

TEST_CASE("a promise of the store counts the cold start that the lane has said") {
  SmallPool pool;
  const std::string url = "sqlite:" + (pool.folder / "pool.db").native();
  JobStore jobs{StoreBackend::open(url)};
  TenantStore tenants{StoreBackend::open(url)};
  const Cause lane{"gateway", "turn"};
  add_job(jobs, new_job("first"));
  jobs.finish(lease_of(claimed(jobs, jobs.now())), "{}", jobs.now());
  for (int i = 0; i < 2; ++i) tenants.divide(10, lane, jobs.now());
  const auto eta = [&] {
    const auto estimated = estimate(tenants, {"acme"}, VideoMinutes(1s));
    REQUIRE(estimated);
    return estimated->eta;
  };
  const Duration usual = eta();
  const LaneSupply none{.most = 4, .cold_start = 1000h};
  write_lane_supply(*pool.store, none);
  CHECK(eta() == usual + 1000h);
  CHECK(tenants.division().supply == none);
  const Job job = jobs.submit(new_job("ada"), k_user, jobs.now()).job;
  const auto promised = tenants.promise(std::span(&job.id, 1), jobs.now()).front();
  REQUIRE(promised);
  CHECK(promised->eta > 1000h);
  write_lane_supply(*pool.store, {.ready = 2, .most = 4, .cold_start = 1000h});
  CHECK(eta() < 1000h);
}
