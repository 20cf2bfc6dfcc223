// Finish times and the lanes' arithmetic.
#include "scheduler/jobs/promises/finish_estimate.h"

#include <catch2/catch.hpp>

#include "scheduler/jobs/lanes/batch_fleet.h"
#include "scheduler/jobs/promises/promise_rule.h"
#include "scheduler/jobs/shares/job_pace.h"

using namespace navtalk;
using namespace std::chrono_literals;

namespace {

constexpr TimePoint k_asked_at{std::chrono::hours(24 * 365)};
constexpr FinishQuestion k_typical{.ahead = VideoMinutes(100min),
                                   .jobs_ahead = 50,
                                   .work = VideoMinutes(2min),
                                   .share = 5,
                                   .rate = 0.5};

PromiseTimes promised_for(TimePoint at) {
  return {.made_at = k_asked_at, .promised_at = at, .changed_at = k_asked_at};
}

Duration p90_of(const FinishQuestion& question) {
  const auto estimate = estimate_finish(question);
  REQUIRE(estimate);
  return estimate->p90;
}

}  // namespace

TEST_CASE(
    "a job is expected when the work ahead has passed at the share, and a GPU has rendered it") {
  const auto estimate = estimate_finish(k_typical);
  REQUIRE(estimate);
  CHECK(estimate->expected == 24min);  // 100 / 5 + 2 / 0.5
  CHECK(estimate->p90 > estimate->expected);
  CHECK(estimate->p90 < estimate->expected * 3 / 2);
}

TEST_CASE("more ahead, less share, a slower GPU, a cold start and broken promises each delay it") {
  const Duration usual = p90_of(k_typical);
  FinishQuestion other = k_typical;
  other.ahead = VideoMinutes(101min);
  CHECK(p90_of(other) > usual);
  other = k_typical;
  other.share = 4.9;
  CHECK(p90_of(other) > usual);
  other = k_typical;
  other.rate = 0.4;
  CHECK(p90_of(other) > usual);
  other = k_typical;
  other.start_wait = 90s;
  CHECK(p90_of(other) == usual + 90s);
  other = k_typical;
  other.correction = 2;
  const Duration twice = (usual - k_finish_buffer) * 2 + k_finish_buffer;
  CHECK(std::chrono::abs(p90_of(other) - twice) < 1ms);
  other = k_typical;
  other.bucket = 5;
  CHECK(p90_of(other) < usual);
  other.bucket = -5;
  CHECK(p90_of(other) > usual);
}

TEST_CASE("a job waits for a cold start where no GPU is there, and none where a slot is free") {
  FinishQuestion question{.work = VideoMinutes(1min), .share = 10, .rate = 1};
  question.lane = {.speed = 20};
  const Duration usual = p90_of(question);
  question.lane.supply = {.most = 20, .cold_start = 150s};
  question.lane.next = 150s;
  CHECK(p90_of(question) == usual + 150s);
  question.lane.supply.starting = 1;
  question.lane.next = 40s;  // of a start
  CHECK(p90_of(question) == usual + 40s);
  question.lane.supply = {.ready = 1, .most = 20, .cold_start = 150s};
  question.lane.next = 150s;
  CHECK(p90_of(question) == usual);
  question.lane.supply = {.cold_start = 150s};  // may have none: nothing is known of it
  CHECK(p90_of(question) == usual);
  question.lane.rendering = VideoMinutes(6min);
  question.lane.rendering_jobs = 2;
  const Duration beside_others = p90_of(question);
  question.lane.supply = {.ready = 3, .starting = 1, .most = 20, .cold_start = 150s};
  CHECK(p90_of(question) == beside_others);
  question.lane.supply.ready = 2;
  CHECK(p90_of(question) > beside_others);
}

TEST_CASE("a job behind others waits for the GPUs that are there, or for those that work starts") {
  FinishQuestion question{.work = VideoMinutes(1min), .bucket = 1000, .share = 1, .rate = 1};
  question.lane = {.speed = 20, .rendering = VideoMinutes(1min), .rendering_jobs = 1};
  question.lane.supply = {.ready = 1, .most = 20, .cold_start = 150s};
  question.lane.next = 150s;
  // The GPU that is there is free earlier.
  CHECK(estimate_finish(question)->expected == 2min);
  // Two cold starts of work start none.
  question.ahead = VideoMinutes(3min);
  question.jobs_ahead = 3;
  CHECK(estimate_finish(question)->expected == 5min);
  // More start some, which finish it within ten minutes.
  question.ahead = VideoMinutes(40min);
  question.jobs_ahead = 40;
  const Duration grown = estimate_finish(question)->expected;
  CHECK(grown > 150s + 40min / 20 + 1min);
  CHECK(grown < 12min);
  // The lane that may have no more renders all with one.
  question.lane.supply.most = 1;
  CHECK(estimate_finish(question)->expected < grown);  // as fast as the division counts on
}

TEST_CASE(
    "without a serving worker a job waits for its replacement, also where the lane cannot grow") {
  FinishQuestion question{.work = VideoMinutes(1min), .share = 10, .rate = 1};
  question.lane = {.speed = 1};
  const auto usual = estimate_finish(question);
  REQUIRE(usual);
  CHECK(usual->cause == FinishCause::rendering);
  question.lane.supply = {.cold_start = 40s, .replacement = 100s};
  question.lane.next = until_next(question.lane.supply, k_asked_at);
  const auto later = estimate_finish(question);
  REQUIRE(later);
  CHECK(later->p90 == usual->p90 + 100s);
  CHECK(later->cause == FinishCause::no_worker);
  question.lane.supply.most = 1;  // it may grow
  CHECK(estimate_finish(question) == later);
  question.lane.supply.replacement = {};  // from none the first job starts one
  question.lane.next = until_next(question.lane.supply, k_asked_at);
  question.work = VideoMinutes(6s);
  CHECK(estimate_finish(question)->cause == FinishCause::start);
}

TEST_CASE("what delays a job is told by what takes longest") {
  CHECK(estimate_finish(k_typical)->cause == FinishCause::work_ahead);
  FinishQuestion other = k_typical;
  other.work = VideoMinutes(60min);
  CHECK(estimate_finish(other)->cause == FinishCause::rendering);
  other.start_wait = 3h;
  CHECK(estimate_finish(other)->cause == FinishCause::pause);
}

TEST_CASE("a job that says nothing when it should is expected later and later") {
  const LeftToRender begun{.work = VideoMinutes(10min), .overhead = 1};
  const auto left = [&](Duration passed) {
    return left_to_render(begun, VideoMinutes(2min), 2, passed);
  };
  CHECK(left(30s).work == VideoMinutes(10min));
  CHECK(left(30s).overhead == Approx(0.5));
  CHECK(left(90s).work == VideoMinutes(9min));
  CHECK(left(90s).overhead == 0);
  CHECK(left(120s).work == VideoMinutes(8min));
  // The report of two minutes was due then: nothing more is believed to be rendered, and the rest is late.
  CHECK(left(10min).work == VideoMinutes(8min));
  CHECK(left(10min).overhead == Approx(8));
  // One without reports is late when all of it should be done.
  const LeftToRender whole = left_to_render(begun, begun.work, 2, 7min);
  CHECK(whole.work == VideoMinutes{});
  CHECK(whole.overhead == Approx(1));
}

TEST_CASE("a cold start passes while a job waits for its share") {
  FinishQuestion question = k_typical;  // released in 20 minutes
  const Duration usual = p90_of(question);
  question.lane = {.speed = 10};
  question.lane.supply = {.most = 20, .cold_start = 150s};
  question.lane.next = 150s;
  CHECK(p90_of(question) >= usual);
  CHECK(p90_of(question) < usual + 150s);
}

TEST_CASE("a released job waits for no share") {
  FinishQuestion question = k_typical;
  question.share = 0;
  CHECK_FALSE(estimate_finish(question));
  question.released = true;
  CHECK(p90_of(question) < 7min);
  question.rate = 0;
  CHECK_FALSE(estimate_finish(question));
}

TEST_CASE("a job waits for the work that was released before it, also that of others") {
  // One GPU renders a video-minute in two minutes: 6 that stand there, 4 of its own, 5 that others may have released at once.
  const LaneBacklog lane{.speed = 0.5,
                         .released = VideoMinutes(5min),
                         .rendering = VideoMinutes(1min),
                         .queued = VideoMinutes(9min),
                         .buckets = 5};
  FinishQuestion question{.ahead = VideoMinutes(4min),
                          .work = VideoMinutes(1min),
                          .bucket = 10,
                          .share = 1,
                          .rate = 0.5};
  CHECK(estimate_finish(question)->expected == 2min);
  question.lane = lane;
  CHECK(estimate_finish(question)->expected == 32min);
  question.lane.budget = 1;
  question.bucket =
      2;  // two minutes until it is released, in which others release two more and the lane renders one
  CHECK(estimate_finish(question)->expected == 36min);
  question.lane.queued = VideoMinutes(6min);
  CHECK(estimate_finish(question)->expected == 34min);
  question.released = true;
  CHECK(estimate_finish(question)->expected == 14min);
  // A lane that is faster than what it is given makes nobody wait.
  question.released = false;
  question.lane = {
      .speed = 8, .released = VideoMinutes(5min), .rendering = VideoMinutes(1min), .budget = 1};
  CHECK(estimate_finish(question)->expected == 4min);
}

TEST_CASE("each job that is before it, and the job itself, needs its time before its first frame") {
  FinishQuestion question{.work = VideoMinutes(1min), .rate = 0.5, .overhead = 0.25};
  CHECK(estimate_finish(question)->expected == 135s);
  // Two GPUs: three released jobs, half of two that are rendered, four of its tenant, and half of six of others.
  question.bucket = 100;
  question.ahead = VideoMinutes(1ms);
  question.jobs_ahead = 4;
  question.lane = {.speed = 1,
                   .overhead = 0.125,
                   .queued = VideoMinutes(2ms),
                   .buckets = VideoMinutes(1ms).count(),
                   .released_jobs = 3,
                   .rendering_jobs = 2,
                   .queued_jobs = 6};
  CHECK(std::chrono::abs(estimate_finish(question)->expected - (135s + 11 * 7500ms)) < 10ms);
}

TEST_CASE(
    "short jobs are rendered at a lower rate, since each has its time before the first frame") {
  const BatchCapacity learnt{.gpus = 1, .rate = 0.1, .render_rate = 2, .overhead = 0.5};
  CHECK(learnt.with_jobs(1, VideoMinutes(1min)).rate == Approx(1));
  CHECK(learnt.with_jobs(1, VideoMinutes(100min)).rate == Approx(100 / 50.5));
  CHECK(learnt.with_jobs(0, VideoMinutes{}).rate == 0.1);
  const BatchCapacity untold{.gpus = 1, .rate = 0.1};
  CHECK(untold.with_jobs(1, VideoMinutes(1min)).rate == 0.1);
}

TEST_CASE(
    "what tenants may save goes by the jobs in the lane and the latest finished ones together") {
  const BatchCapacity learnt{
      .gpus = 10, .rate = 0.8, .render_rate = 1, .overhead = 0.5, .measured = VideoMinutes(40min)};
  // A text of three seconds that is alone: of 40.05 minutes in 50.55.
  const BatchCapacity alone = learnt.with_jobs(1, VideoMinutes(3s));
  CHECK(alone.rate == Approx(0.05 / 0.55));
  CHECK(alone.lasting_rate == Approx(40.05 / 50.55));
  CHECK(alone.lasting_budget() == Approx(8 * 40.05 / 50.55));
  CHECK(alone.budget() == Approx(8 * 0.05 / 0.55));  // no more than the GPUs render
  // A thousand of them, of which each has its overhead.
  const BatchCapacity flood = learnt.with_jobs(1000, VideoMinutes(50min));
  CHECK(flood.lasting_rate == Approx(90.0 / 600));
  CHECK(flood.budget() == Approx(8 * 50.0 / 550));
  CHECK(learnt.with_jobs(0, VideoMinutes{}).lasting_budget() == Approx(6.4));
  // Of which nothing was learnt: by the jobs alone.
  const BatchCapacity fresh{.gpus = 10, .render_rate = 1, .overhead = 0.5};
  CHECK(fresh.with_jobs(1, VideoMinutes(1min)).lasting_budget() == Approx(8 / 1.5));
}

TEST_CASE("after short jobs alone a long one is expected by what its length takes") {
  JobPace pace;
  for (int i = 0; i < 5; ++i) pace.learn(VideoMinutes(1s), 9s, 1500ms);
  CHECK(pace.rate == Approx(1 / 9.0));
  CHECK(pace.render_rate == Approx(1 / 1.5));
  CHECK(pace.overhead == 7500ms);
  const FinishQuestion question{.work = VideoMinutes(30s),
                                .rate = pace.render_rate,
                                .overhead = in_seconds(pace.overhead) / 60};
  CHECK(std::chrono::abs(estimate_finish(question)->expected - 52500ms) < 10ms);
  // A rendering time longer than the job is not learnt from.
  JobPace untold = pace;
  untold.learn(VideoMinutes(1s), 1s, 2s);
  CHECK(untold.overhead == pace.overhead);
  CHECK(untold.render_rate == pace.render_rate);
  CHECK(untold.rate > pace.rate);
}

TEST_CASE("jobs whose worker tells nothing do not slow what is learnt from those that tell") {
  JobPace pace;
  for (int i = 0; i < 100; ++i) pace.learn(VideoMinutes(1min), 90s, {});
  CHECK(pace.expected_render_rate() == 0);
  CHECK(pace.expected_overhead() == 0);
  // The first renders slowly, and its avatar is prepared.
  pace.learn(VideoMinutes(1min), 600s, 300s);
  CHECK(pace.render_rate == Approx(0.2));
  CHECK(pace.expected_render_rate() > 0.4);
  CHECK(pace.expected_overhead() < 0.5);
  for (int i = 0; i < 3; ++i) pace.learn(VideoMinutes(1min), 90s, 30s);
  CHECK(pace.render_rate > 0.6);  // a minute each in 300, 30, 30 and 30 s
  for (int i = 0; i < 100; ++i) pace.learn(VideoMinutes(1min), 90s, 30s);
  CHECK(pace.expected_render_rate() == Approx(2).epsilon(0.05));
  CHECK(pace.expected_overhead() == Approx(1).epsilon(0.05));
}

TEST_CASE("the first job's start of a renderer is forgotten by twenty jobs that find it there") {
  JobPace pace;
  pace.learn(VideoMinutes(1min), 120s, 60s);
  CHECK(pace.overhead == 60s);
  for (int i = 0; i < 19; ++i) pace.learn(VideoMinutes(1min), 62s, 60s);
  CHECK(pace.overhead < 5s);
  CHECK(pace.overhead > 4s);
  for (int i = 0; i < 100; ++i) pace.learn(VideoMinutes(1min), 62s, 60s);
  CHECK(pace.overhead < 2100ms);
}

TEST_CASE(
    "the backlog of a lane is that of all tenants, and its speed that of the GPUs that work") {
  const BatchCapacity capacity{.gpus = 4, .rate = 0.5};
  std::vector<TenantLine> lines(2);
  lines[0].tenant = {"a"};
  lines[1].tenant = {"b"};
  lines[0].queued = VideoMinutes(3min);
  lines[1].queued = VideoMinutes(7min);
  lines[1].bucket.minutes = 2;
  lines[1].running = VideoMinutes(4min);
  lines[1].running_jobs = 2;
  LaneBacklog lane = backlog_of(lines, {"a"}, capacity);
  CHECK(lane.speed == 2);
  CHECK(lane.released == VideoMinutes{});
  CHECK(lane.rendering == VideoMinutes(2min));
  CHECK(lane.queued == VideoMinutes(7min));
  CHECK(lane.buckets == 2);
  CHECK(lane.budget == capacity.budget());
  lines[0].released = VideoMinutes(1min);
  lines[0].released_jobs = 1;
  lane = backlog_of(lines, {"b"}, capacity);
  CHECK(lane.speed == 1);  // two of four work although one waits
  CHECK(lane.released == VideoMinutes(1min));
  CHECK(lane.rendering == VideoMinutes(2min));
  CHECK(lane.queued == VideoMinutes(3min));
  CHECK(lane.released_jobs == 1);
  CHECK(lane.rendering_jobs == 2);
  // Two GPUs that work, beside their frames.
  lines[0].queued_jobs = 5;
  lane = backlog_of(lines, {"b"}, {.gpus = 4, .rate = 0.5, .render_rate = 2, .overhead = 0.5});
  CHECK(lane.speed == 4);
  CHECK(lane.overhead == 0.25);
  CHECK(lane.queued_jobs == 5);
}

TEST_CASE("jobs that their tenant's bound holds back stand before nobody else") {
  std::vector<TenantLine> lines(2);
  lines[0] = {.tenant = {"bounded"}, .terms = {.max_running = 1}};
  lines[0].released = VideoMinutes(120min);
  lines[0].released_jobs = 2;
  lines[0].running_jobs = 1;
  lines[1].tenant = {"other"};
  const BatchCapacity capacity{.gpus = 10, .rate = 1};
  const LaneBacklog lane = backlog_of(lines, {"other"}, capacity);
  CHECK(lane.released_jobs == 0);
  CHECK(lane.released == VideoMinutes{});
  CHECK(lane.speed == 10);
  CHECK(backlog_of(lines, {"bounded"}, capacity).released_jobs == 2);
  lines[0].running_jobs = 0;
  CHECK(backlog_of(lines, {"other"}, capacity).released == VideoMinutes(60min));
}

TEST_CASE("a finish time beyond all bounds is a long time, not a wrong one") {
  FinishQuestion question = k_typical;
  question.share = 1e-30;
  question.correction = 4;
  CHECK(p90_of(question) > 1000h);
}

TEST_CASE(
    "a promise changes when it will be missed by more than a moment, and always when it is due") {
  const TimePoint promised = k_asked_at + 1h, now = k_asked_at + 40min;
  const PromiseTimes promise = promised_for(promised);
  CHECK_FALSE(changed_promise(promise, now, promised));
  CHECK_FALSE(changed_promise(promise, now, promised - 10min));
  CHECK_FALSE(changed_promise(promise, now, promised + 29s));
  CHECK(changed_promise(promise, now, promised + 31s) == promised + 31s);
  CHECK(changed_promise(promise, promised - 2s, promised + 5s) == promised + 30s);
  CHECK_FALSE(changed_promise(promise, promised - 3s, promised + 5s));
  CHECK(changed_promise(promise, promised + 1h, promised) == promised + 1h + 30s);
}

TEST_CASE("each step later is twice as long as the last, so that a stalled job is told seldom") {
  PromiseTimes promise = promised_for(k_asked_at + 1min);
  std::vector<Duration> steps;
  for (TimePoint now = k_asked_at; now < k_asked_at + 2h; now += 1s) {
    const auto changed = changed_promise(promise, now, now + 1s);
    if (!changed) continue;
    CHECK(now < promise.promised_at);  // told before
    steps.push_back(*changed - promise.promised_at);
    promise.promised_at = *changed;
    promise.changed_at = now;
    ++promise.changes;
  }
  CHECK(steps == std::vector<Duration>{30s, 60s, 120s, 240s, 480s, 960s, 1920s, 3840s});
  promise.changes = 1000;
  CHECK(least_delay(promise) == 3840s);
}

TEST_CASE(
    "a promise moves earlier when less than half of its time is needed, and not at once again") {
  const TimePoint promised = k_asked_at + 80min;
  PromiseTimes promise = promised_for(promised);
  const TimePoint now = k_asked_at + 5min;
  CHECK(changed_promise(promise, now, now + 517s) == now + 517s);
  CHECK_FALSE(changed_promise(promise, now, now + 38min));
  CHECK(changed_promise(promise, now, now + 37min) == now + 37min);
  promise.changed_at = now - 2min;
  CHECK_FALSE(changed_promise(promise, now, now + 517s));
  promise.changed_at = now - 3min;
  CHECK(changed_promise(promise, now, now + 517s) == now + 517s);
  // Minutes are worth a message, seconds are not.
  CHECK_FALSE(changed_promise(promise, promised - 4min, promised - 3min - 30s + 31s));
  CHECK(changed_promise(promise, promised - 4min, promised - 3min - 30s));
  // One that has changed often moves by more.
  promise = promised_for(now + 10min);
  promise.changes = 4;
  CHECK(changed_promise(promise, now, now + 110s) == now + 110s);
  CHECK_FALSE(changed_promise(promise, now, now + 130s));
}

TEST_CASE(
    "a later time is told in the second half of what was promised, or when the promise is due") {
  const TimePoint made = k_asked_at, promised = k_asked_at + 1h;
  PromiseTimes promise = promised_for(promised);
  CHECK_FALSE(changed_promise(promise, made + 29min, promised + 2h));
  CHECK(changed_promise(promise, made + 30min, promised + 2h) == promised + 2h);
  // The next change waits for half of the new time.
  promise.promised_at = promised + 2h;
  promise.changes = 1;
  CHECK_FALSE(changed_promise(promise, made + 89min, promised + 4h));
  CHECK(changed_promise(promise, made + 90min, promised + 4h) == promised + 4h);
  CHECK(changed_promise(promised_for(made + 3s), made + 1s, made + 10s) == made + 33s);
}

TEST_CASE(
    "the batch fleet grows when its work lasts for more than two cold starts, and only then") {
  BatchFleet fleet{.gpus = 4, .most_gpus = 16, .rate = 1, .cold_start = 90s};
  CHECK(gpus_to_start(fleet) == 0);  // nothing to do
  fleet.queued = VideoMinutes(12min);
  CHECK(gpus_to_start(fleet) == 0);  // three minutes
  fleet.queued = VideoMinutes(13min);
  CHECK(gpus_to_start(fleet) == 1);
  fleet.queued = VideoMinutes(91min);  // (91 - 6) / 8.5 = 10
  CHECK(gpus_to_start(fleet) == 6);
  fleet.queued = VideoMinutes(10000min);
  CHECK(gpus_to_start(fleet) == 12);
  fleet.gpus = 16;
  CHECK(gpus_to_start(fleet) == 0);
}

TEST_CASE("from no GPU the first job starts one, and nothing is known of the rate") {
  CHECK(gpus_to_start({.queued = VideoMinutes(1s), .most_gpus = 4}) == 1);
  CHECK(gpus_to_start({.queued = VideoMinutes(10h), .gpus = 1, .most_gpus = 4}) == 0);
  CHECK(gpus_to_start({.queued = VideoMinutes(1s)}) == 0);
}
