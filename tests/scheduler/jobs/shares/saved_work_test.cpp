// What a tenant has saved, in a store.
#include "scheduler/jobs/shares/share_tables.h"
#include "scheduler/store/run_work.h"
#include "tests/scheduler/jobs/job_contract.h"

using namespace navtalk;
using namespace navtalk::tests;
using namespace std::chrono_literals;

namespace {

const Cause k_lane_turn{"gateway", "turn"};

}  // namespace

STORE_TEST(
    "what a tenant has saved stays while a short text is alone in the lane, and when GPUs are "
    "lost") {
  const TestType place;
  JobStore jobs = open_jobs(place);
  TenantStore tenants(StoreBackend::open(place.url()));
  const TimePoint from = jobs.now();
  StoreBackend::open(place.url())->write(Durability::durable, [&](Transaction& t) {
    const VideoMinutes work(100min);
    write_lane(t, {.pace = {.rate = 0.8,
                            .measured = work,
                            .told = work,
                            .render_rate = 1,
                            .overhead = 1min,
                            .overheads = 20}});
    write_line(t, {.tenant = {"saver"}, .bucket = {.minutes = 25, .at = from}});
  });
  const auto saved = [&] { return tenants.division().line_of({"saver"}, {}).bucket.minutes; };
  NewJob text = new_job("ada");
  text.spec.tenant = {"other"};
  text.work = VideoMinutes(1s);
  jobs.submit(text, k_user, from);
  tenants.divide(10, k_lane_turn, from + 1s);
  CHECK(tenants.division().capacity.rate < 0.02);
  CHECK(saved() >= 25);
  tenants.divide(1, k_lane_turn, from + 2s);
  CHECK(saved() >= 25);
  tenants.divide(1, k_lane_turn, from + 24h);  // a gap without turns says nothing about the budget
  CHECK(saved() >= 25);
  for (int turn = 1; turn <= 360; ++turn) tenants.divide(1, k_lane_turn, from + 24h + turn * 10s);
  CHECK(saved() < 5);
}

STORE_TEST("slots that users take are known to the first promise after a time without jobs") {
  const TestType place;
  JobStore jobs = open_jobs(place);
  TenantStore tenants(StoreBackend::open(place.url()));
  for (const double gpus : {8.0, 1.0, 0.0, 8.0}) {
    tenants.divide(gpus, k_lane_turn, jobs.now());
    CHECK(tenants.division().capacity.gpus == gpus);
  }
}

STORE_TEST("no tenant saves by a rate that was only assumed") {
  const TestType place;
  JobStore jobs = open_jobs(place);
  TenantStore tenants(StoreBackend::open(place.url()));
  const TimePoint from = jobs.now();
  jobs.submit(new_job("ada"), k_user, from);
  tenants.divide(10, k_lane_turn, from + 1s);
  const auto lane = in_read(*StoreBackend::open(place.url()), read_lane);
  CHECK(lane.gpus == 10);
  CHECK(lane.recent_budget == 0);
}
