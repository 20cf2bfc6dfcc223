// Users and jobs on the same simulated slots: who waits for whom.
#include <algorithm>
#include <catch2/catch.hpp>

#include "scheduler/jobs/lanes/lent_slots.h"
#include "scheduler/simulator/jobs/job_simulator.h"
#include "scheduler/simulator/trace/generate.h"

using namespace navtalk;
using namespace std::chrono_literals;

namespace {

// A video-minute takes a minute, and a segment ten seconds.
JobSimulatorOptions exact(int gpus, Trace sessions) {
  return {.gpus = gpus, .rate_sigma = 0, .overhead_s = 0, .sessions = std::move(sessions)};
}

TracedJob job(Duration submitted, const std::string& tenant, Duration work) {
  return {.submitted = submitted, .tenant = tenant, .work = VideoMinutes(work)};
}

double finish_s(const JobSimulatorResult& result, const std::string& tenant) {
  return result.tenants.at(tenant).p99_finish_s;
}

}  // namespace

TEST_CASE("a user who finds all slots lent takes the newest job's within ten seconds") {
  const JobTrace jobs = {job(0s, "first", 30min), job(5s, "second", 30min)};
  const JobSimulatorOptions options = exact(2, {{600s, 60s}});
  const JobSimulatorResult result = simulate(jobs, JobPolicy::fifo, options);
  CHECK(result.taken_back == 1);
  CHECK(result.live.delayed == 1);
  // Looked at after a second; the second job's next segment would end at 605 s only.
  CHECK(result.live.max_delay_s == Approx(3));
  CHECK(result.live.late_share == 0);
  CHECK(finish_s(result, "first") == Approx(1800));
  // It goes on behind its finished segment, and has lost 8 s.
  CHECK(finish_s(result, "second") == Approx(1800 + 60 + 8));
  CHECK(result.repeated_share == Approx(8.0 / (3600 + 8)));
  CHECK(result.most_lent == 2);
}

TEST_CASE("a segment that lasts longer than a user may wait is cut, and rendered again") {
  JobSimulatorOptions options = exact(1, {{602s, 60s}});
  options.rate = 0.25;  // a segment takes 40 s
  const JobSimulatorResult result = simulate({job(0s, "one", 30min)}, JobPolicy::fifo, options);
  CHECK(result.live.max_delay_s == Approx(in_seconds(k_lane_round + k_yield_within)));
  // At 605 s 5 s of a segment are lost.
  CHECK(result.repeated_share == Approx(5.0 / (7200 + 5)));
  CHECK(finish_s(result, "one") == Approx(7200 + 60 + 5));
}

TEST_CASE("no job gets a slot while a user waits, and users are served in turn") {
  const Trace sessions = {{0s, 100s}, {50s, 100s}, {60s, 100s}};
  const JobSimulatorResult result =
      simulate({job(10s, "one", 1min)}, JobPolicy::fifo, exact(1, sessions));
  CHECK(result.all.p99_wait_s == Approx(300 - 10));
  CHECK(result.live.users == 3);
  CHECK(result.live.delayed == 0);
  CHECK(result.live.p99_wait_s == Approx(200 - 60));
  CHECK(result.live.p99_wait_without_jobs_s == Approx(200 - 60));
  CHECK(result.taken_back == 0);
}

TEST_CASE("jobs have what users leave, and each hour tells how much") {
  const JobTrace jobs = {job(0s, "one", 30min), job(3600s, "one", 30min)};
  const JobSimulatorResult result =
      simulate(jobs, JobPolicy::fifo, exact(4, {{0s, 1800s}, {900s, 900s}, {1800s, 3600s}}));
  REQUIRE(result.hours.size() == 2);
  CHECK(result.hours[0].live == Approx(0.5 + 0.25 + 0.5));
  CHECK(result.hours[0].lent == Approx(0.5));
  CHECK(result.hours[1].live == Approx(0.5));  // until the last job is done
  CHECK(result.hours[1].lent == Approx(0.5));
  CHECK(result.utilisation == Approx(0.5 / (4 - 1.25)));
}

TEST_CASE("jobs under each policy delay no user by more than ten seconds, also in a busy pool") {
  const Trace sessions = generate(
      GenerateOptions{.load = Load::diurnal, .days = 0.5, .sessions = 0.5 * 24 * 120, .seed = 3});
  const JobTrace jobs = generate(JobTraceOptions{.tenants = 5, .hours = 12, .arriving = 8});
  JobSimulatorOptions options{.gpus = 16, .sessions = sessions};
  for (const JobPolicy policy : {JobPolicy::shares, JobPolicy::fifo}) {
    const JobSimulatorResult result = simulate(jobs, policy, options);
    INFO(name(policy));
    CHECK(result.live.users == sessions.size());
    CHECK(result.live.delayed > 100);
    CHECK(result.live.max_delay_s > 2);
    CHECK(result.live.max_delay_s <= in_seconds(k_lane_round + k_yield_within) + 1e-6);
    CHECK(result.live.late_share == 0);
    CHECK(result.taken_back >= result.live.delayed / 2);
    CHECK(result.most_lent <= 16);
  }
}

TEST_CASE("GPUs that wait for the first job do not count as left idle") {
  const JobTrace jobs = {job(1h, "one", 60min), job(2h, "one", 1min)};
  CHECK(simulate(jobs, JobPolicy::fifo, exact(2, {})).utilisation == Approx(0.5));
}

TEST_CASE("promises count no slots that users have") {
  const JobTrace jobs = generate(JobTraceOptions{.tenants = 5, .hours = 12, .arriving = 5});
  const Trace sessions = generate(
      GenerateOptions{.load = Load::smooth, .days = 0.5, .sessions = 0.5 * 24 * 96, .seed = 3});
  const JobSimulatorResult result =
      simulate(jobs, JobPolicy::shares, {.gpus = 16, .sessions = sessions});
  CHECK(result.kept_first >= 0.95);
  CHECK(result.slipped == 0);
}

TEST_CASE("delays are told from waits that jobs have nothing to do with") {
  const std::vector<Duration> with_jobs = {0s, 40s, 12s, 11s}, without = {0s, 40s, 7s, 0s};
  const LiveWaits waits = compare_waits(with_jobs, without);
  CHECK(waits.delayed == 2);
  CHECK(waits.p50_delay_s == 5);
  CHECK(waits.max_delay_s == 11);
  CHECK(waits.late_share == 0.25);
  CHECK(waits.p99_wait_s == 40);
}

TEST_CASE("from none the first job starts a GPU at once, and long work as many as may be") {
  JobSimulatorOptions options = exact(0, {});
  options.max_gpus = 4;
  options.lead_sigma = 0;
  const JobSimulatorResult one = simulate({job(0s, "one", 1min)}, JobPolicy::fifo, options);
  CHECK(one.all.p99_wait_s == Approx(options.lead_s).margin(2));
  CHECK(one.starts == 1);
  // Shorter than twice a cold start: no second GPU.
  const JobTrace two = {job(0s, "one", 1min), job(0s, "one", 1min)};
  CHECK(simulate(two, JobPolicy::fifo, options).starts == 1);
  const JobTrace many(12, job(0s, "one", 10min));
  for (const JobPolicy policy : {JobPolicy::fifo, JobPolicy::shares}) {
    const JobSimulatorResult result = simulate(many, policy, options);
    INFO(name(policy));
    CHECK(result.most_started == 4);
    CHECK(result.all.jobs == 12);
    CHECK(result.gpu_hours >= 2);
    CHECK(result.gpu_hours < 2.7);
  }
}

TEST_CASE("GPUs end when their work is done, and start again with the next work") {
  JobSimulatorOptions options = exact(0, {});
  options.max_gpus = 2;
  const JobTrace jobs = {job(0s, "one", 1min), job(10h, "one", 1min)};
  const JobSimulatorResult result = simulate(jobs, JobPolicy::shares, options);
  CHECK(result.starts == 2);
  CHECK(result.gpu_hours < 0.3);
}

TEST_CASE(
    "a flood moves nobody's wait where slots suffice, and has all slots when nobody else comes") {
  JobTrace jobs;
  for (int i = 0; i < 60; ++i) jobs.push_back(job(i * 2min, "other", 1min));
  for (int i = 0; i < 900; ++i) jobs.push_back(job(5s, "flood", 10min));
  std::ranges::stable_sort(jobs, {}, &TracedJob::submitted);
  JobSimulatorOptions options = exact(16, {});
  options.flooder = "flood";
  const JobSimulatorResult kept = simulate(jobs, JobPolicy::shares, options);
  CHECK(kept.others.p99_wait_s <= 1);
  // On 14 slots until ten minutes after the last job of the other, and then on 16.
  const double alone_s = 59 * 120 + 600, work_s = 900 * 600;
  const double least_s = alone_s + (work_s - 14 * alone_s) / 16;
  CHECK(finish_s(kept, "flood") > least_s - 120);
  CHECK(finish_s(kept, "flood") < least_s + 720);
  options.headroom = false;
  CHECK(simulate(jobs, JobPolicy::shares, options).others.p99_wait_s >= 2);
}

TEST_CASE("the lane's GPUs are busy for less than four fifths of their time, and promises hold") {
  JobTraceOptions load{.hours = 8};
  for (const double batch_jobs : {1.0, 10.0}) {
    CAPTURE(batch_jobs);
    load.batch_jobs = batch_jobs;
    for (const double arriving : {1.0, 6.0}) {
      CAPTURE(arriving);
      load.arriving = arriving;
      const JobTrace jobs = generate(load);
      const JobSimulatorResult result =
          simulate(jobs, JobPolicy::shares, {.gpus = 0, .max_gpus = 20, .rate = 1});
      CHECK(result.utilisation < 0.8);
      CHECK(result.utilisation > 0.5);
      CHECK(result.kept_first >= 0.9);
      CHECK(result.slipped == 0);
    }
  }
}

TEST_CASE("GPUs that the next batch will want are not ended between two batches") {
  JobSimulatorOptions options = exact(0, {});
  options.max_gpus = 8;
  options.lead_sigma = 0;
  JobTrace jobs;
  for (int batch = 0; batch < 20; ++batch) {
    for (int i = 0; i < 8; ++i) jobs.push_back(job(batch * 5min, "one", 3min));
  }
  const JobSimulatorResult result = simulate(jobs, JobPolicy::shares, options);
  CHECK(result.starts < 50);
  CHECK(result.most_started == 8);
}
