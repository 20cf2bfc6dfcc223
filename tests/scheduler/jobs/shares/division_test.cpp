// Demand, bucket and one turn of the division.
#include "scheduler/jobs/shares/division.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "scheduler/simulator/random.h"

using namespace navtalk;
using namespace std::chrono_literals;

namespace {

constexpr TimePoint k_divided_from{std::chrono::hours(24 * 365)};
constexpr BatchCapacity k_ten{.gpus = 25, .rate = 0.5};  // a budget of 10 video-minutes a minute

TenantLine line_of(const std::string& tenant, double queued_min) {
  TenantLine line{.tenant = {tenant}};
  line.queued = VideoMinutes(from_seconds(queued_min * 60));
  line.queued_jobs = queued_min > 0 ? 1 : 0;
  return line;
}

}  // namespace

TEST_CASE("demand rises at once and falls by half in five minutes") {
  DemandEnvelope demand;
  TimePoint now = k_divided_from;
  demand.observe(8, now);
  CHECK(demand.value() == 8);
  for (int i = 0; i < 31; ++i) demand.observe(0, now += 10s);
  CHECK(demand.value() == Approx(4).epsilon(0.03));
  demand.observe(20, now += 1s);
  CHECK(demand.value() > 10);
}

TEST_CASE("demand that comes and goes counts with its mean and its deviation") {
  DemandEnvelope demand;
  for (int i = 0; i < 10; ++i) demand.observe(i % 2 == 0 ? 4 : 0, k_divided_from + i * 1s);
  CHECK(demand.value() == Approx(4));  // 2 + 2
}

TEST_CASE("a bucket lets a job of any length pass, and then pays its debt first") {
  WorkBucket bucket;
  CHECK_FALSE(bucket.may_release());
  bucket.refill(2, 20, 20, k_divided_from);
  CHECK(bucket.may_release());
  bucket.take(VideoMinutes(60min));
  CHECK_FALSE(bucket.may_release());
  bucket.refill(2, 20, 20, k_divided_from + 29min);
  CHECK_FALSE(bucket.may_release());
  bucket.refill(2, 20, 20, k_divided_from + 30min);
  CHECK(bucket.may_release());
}

TEST_CASE("a bucket saves no more than it holds") {
  WorkBucket bucket;
  bucket.refill(3, 15, 15, k_divided_from);
  bucket.refill(3, 15, 15, k_divided_from + 24h);
  CHECK(bucket.minutes == 15);
  bucket.refill(3, 15, 15, k_divided_from);  // a clock that was set back gives nothing
  CHECK(bucket.minutes == 15);
}

TEST_CASE("what is saved beyond a full bucket is kept as far as allowed, and not refilled") {
  WorkBucket bucket{.minutes = 15, .at = k_divided_from};
  bucket.refill(3, 5, 12, k_divided_from + 1min);
  CHECK(bucket.minutes == 12);
  bucket.take(VideoMinutes(8min));
  bucket.refill(3, 5, 12, k_divided_from + 2min);
  CHECK(bucket.minutes == 5);
}

TEST_CASE("over an hour all buckets together release no more than the budget and one job each") {
  Random random(3, 1);
  std::vector<TenantLine> lines;
  for (int i = 0; i < 8; ++i) lines.push_back(line_of("t" + std::to_string(i), 1e4));
  double released = 0;
  const VideoMinutes job(7min);
  for (int second = 0; second < 3600; ++second) {
    divide(lines, k_ten, k_divided_from + second * 1s);
    for (TenantLine& line : lines) {
      if (random.uniform() < 0.1) line.queued = VideoMinutes(from_seconds(random.uniform() * 1e5));
      while (line.bucket.may_release()) {
        line.bucket.take(job);
        released += job.count();
      }
    }
  }
  const double saved = 10 * 10;  // ten minutes of the budget
  CHECK(released <= 10 * 60 + saved + 8 * 7);
  CHECK(released >= 10 * 60 * 0.95);
}

TEST_CASE(
    "a budget that was larger is remembered, and loses half of what it was larger by in five "
    "minutes") {
  CHECK(k_ten.remembering(0, 1s).recent_budget == Approx(10));
  CHECK(k_ten.remembering(30, 0s).recent_budget == Approx(30));
  CHECK(k_ten.remembering(30, 5min).recent_budget == Approx(20));
  CHECK(k_ten.remembering(30, -5min).recent_budget == Approx(30));  // a clock that was set back
  CHECK(k_ten.remembering(30, 24h * 365).recent_budget == Approx(10));
}

TEST_CASE("what a tenant has saved outlasts a moment without GPUs, and not a lasting one") {
  std::vector<TenantLine> lines = {{.tenant = {"saver"}}};
  BatchCapacity capacity = k_ten;
  TimePoint now = k_divided_from;
  const auto turns = [&](double gpus, int count) {
    for (int i = 0; i < count; ++i) {
      capacity.gpus = gpus;
      capacity = capacity.remembering(capacity.recent_budget, 1s);
      divide(lines, capacity, now += 1s);
    }
  };
  turns(25, 1200);
  CHECK(lines[0].bucket.minutes == Approx(100));
  turns(1, 30);  // a budget of 0.4
  CHECK(lines[0].bucket.minutes == Approx(100).epsilon(0.1));
  CHECK(lines[0].bucket.minutes < 100);
  turns(1, 270);
  CHECK(lines[0].bucket.minutes == Approx(52).epsilon(0.01));
  turns(1, 7200);
  CHECK(lines[0].bucket.minutes == Approx(4));
}

TEST_CASE("all buckets together keep to ten minutes of the budget as it was lately") {
  std::vector<TenantLine> lines;
  for (int i = 0; i < 4; ++i) {
    lines.push_back({.tenant = {"t" + std::to_string(i)},
                     .queued = VideoMinutes(24h),
                     .queued_jobs = 1,
                     .bucket = {.minutes = 1000, .at = k_divided_from}});
  }
  divide(lines, k_ten.remembering(30, 5min), k_divided_from + 1s);
  for (const TenantLine& line : lines) CHECK(line.bucket.minutes == Approx(50));
}

TEST_CASE("a tenant who was idle may release a burst at once while another floods") {
  std::vector<TenantLine> lines = {line_of("flood", 1e6), line_of("idle", 0)};
  for (int second = 0; second < 7200; ++second) divide(lines, k_ten, k_divided_from + second * 1s);
  CHECK(lines[0].share > 9);
  CHECK(lines[1].bucket.minutes > 45);  // ten minutes of half the budget, at most
  CHECK(lines[1].bucket.minutes <= 100);
  lines[1].terms.max_rate = 1;
  divide(lines, k_ten, k_divided_from + 7201s);
  CHECK(lines[1].bucket.minutes <= 10);
}

TEST_CASE("the budget is divided by demand, and a tenant in debt keeps asking until it is paid") {
  std::vector<TenantLine> lines = {line_of("flood", 1000), line_of("small", 10),
                                   line_of("idle", 0)};
  for (TenantLine& line : lines) line.bucket.minutes = 1000;
  divide(lines, k_ten, k_divided_from);
  CHECK(lines[0].share == Approx(8));
  CHECK(lines[1].share == Approx(2));
  CHECK(lines[2].share == 0);
  lines[2].bucket.minutes = -3;
  divide(lines, k_ten, k_divided_from + 1s);
  CHECK(lines[2].share > 0);
}

TEST_CASE("the assured share is that of an endless queue, within the tenant's own bound") {
  std::vector<TenantLine> lines = {line_of("a", 1000), line_of("b", 5)};
  for (TenantLine& line : lines) line.bucket.minutes = 1000;
  divide(lines, k_ten, k_divided_from);
  CHECK(assured_share(lines, 0, k_ten) == Approx(9));
  CHECK(assured_share(lines, 1, k_ten) == Approx(5));
  lines[1].terms.max_rate = 2;
  CHECK(assured_share(lines, 1, k_ten) == Approx(2));
}

TEST_CASE("a tenant's bound on running jobs bounds what is released") {
  TenantLine line = line_of("a", 10);
  CHECK(releasable_jobs(line) > 1000);
  line.terms.max_running = 3;
  line.released_jobs = line.running_jobs = 1;
  CHECK(startable_jobs(line) == 1);
  CHECK(releasable_jobs(line) == 1 + k_released_ahead);
  line.running_jobs = 3;
  CHECK(startable_jobs(line) == 0);
  CHECK(releasable_jobs(line) == 1);  // the next one does not wait for a turn when one ends
  line.released_jobs = 2;
  CHECK(releasable_jobs(line) == 0);
  line.running_jobs = 7;
  CHECK(releasable_jobs(line) == 0);
}

TEST_CASE("work that is released ahead of a tenant's largest number keeps no GPU from others") {
  TenantLine line = line_of("a", 10);
  line.terms.max_running = 1;
  line.released_jobs = 2;
  line.released = VideoMinutes(120min);
  line.running_jobs = 1;
  CHECK(lendable(std::span(&line, 1), k_ten) > VideoMinutes{});
  line.running_jobs = 0;  // an idle GPU takes one of the two
  CHECK(lendable(std::span(&line, 1), k_ten) == VideoMinutes{});
}

TEST_CASE(
    "a tenant has its part of the slots released whatever its bucket holds, which pays until it "
    "owes "
    "a full one") {
  std::vector<TenantLine> lines = {line_of("flood", 1e6), line_of("small", 100)};
  lines[0].queued_jobs = 1000;
  lines[0].running_jobs = 10;
  lines[1].queued_jobs = 6;
  lines[1].bucket.minutes = -3;
  const BatchCapacity ten{.gpus = 10, .rate = 1};
  const std::vector<EarlyRelease> most = early_releases(lines, ten);
  CHECK_FALSE(releases_early(lines[0], most[0]));
  int released = 0;
  for (; releases_early(lines[1], most[1]); ++released) {
    REQUIRE(released < 6);
    --lines[1].queued_jobs;
    ++lines[1].released_jobs;
  }
  CHECK(released == 5);
  CHECK(most[1].debt == Approx(40));  // ten minutes of a half of eight
  lines[1].released_jobs = 0;
  lines[1].bucket.minutes = -39.9;
  CHECK(releases_early(lines[1], most[1]));
  CHECK(pays_early(lines[1], most[1]));
  lines[1].bucket.minutes = -40.1;
  CHECK(releases_early(lines[1], most[1]));
  CHECK_FALSE(pays_early(lines[1], most[1]));
}

TEST_CASE("a tenant with a largest rate that owes a full bucket waits for it") {
  std::vector<TenantLine> lines = {line_of("a", 100)};
  lines[0].queued_jobs = 5;
  lines[0].terms.max_rate = 2;
  const std::vector<EarlyRelease> most = early_releases(lines, k_ten);
  CHECK(most[0].debt == Approx(20));
  lines[0].bucket.minutes = -19.9;
  CHECK(releases_early(lines[0], most[0]));
  lines[0].bucket.minutes = -20.1;
  CHECK_FALSE(releases_early(lines[0], most[0]));
}

TEST_CASE(
    "a tenant that has had much of the slots has less released than one that has had little") {
  std::vector<TenantLine> lines = {line_of("flood", 1000), line_of("small", 1000)};
  for (TenantLine& line : lines) line.queued_jobs = 1000;
  CHECK(early_releases(lines, k_ten)[0].jobs == Approx(12.5));
  lines[0].history.slots = 5;
  CHECK(early_releases(lines, k_ten)[0].jobs == Approx(7.5));
  CHECK(early_releases(lines, k_ten)[1].jobs == Approx(17.5));
}

TEST_CASE("what a tenant has of the slots is remembered for about an hour") {
  std::vector<TenantLine> lines = {line_of("a", 1000)};
  lines[0].running_jobs = 4;
  TimePoint now = k_divided_from;
  divide(lines, k_ten, now);
  CHECK(lines[0].history.slots == 0);  // nothing is known of the time before
  for (int i = 0; i < 3600; ++i) divide(lines, k_ten, now += 1s);
  CHECK(lines[0].history.slots == Approx(4 * (1 - std::exp(-1))));
  lines[0].running_jobs = 0;
  divide(lines, k_ten, now += 1h);  // one long step forgets as much as many short ones
  CHECK(lines[0].history.slots == Approx(4 * (1 - std::exp(-1)) * std::exp(-1)));
  divide(lines, k_ten, now - 1min);
  CHECK(lines[0].history.slots == Approx(4 * (1 - std::exp(-1)) * std::exp(-1)));
}

TEST_CASE("work is lent while GPUs have none, and not beyond the utilisation") {
  std::vector<TenantLine> lines = {line_of("a", 1000)};
  CHECK(lendable(lines, k_ten).audio() == 100s);  // ten seconds of the budget
  lines[0].released = VideoMinutes(60s);
  CHECK(lendable(lines, k_ten).audio() == 40s);
  lines[0].running_jobs = 20;  // of 25 GPUs
  CHECK(lendable(lines, k_ten) == VideoMinutes{});
}
