// Promised finish times in the store: estimated, kept, changed with an event, scored; on both databases.
#include "scheduler/jobs/lanes/said_supply.h"
#include "scheduler/jobs/promises/job_estimates.h"
#include "scheduler/jobs/shares/share_tables.h"
#include "tests/scheduler/jobs/job_contract.h"

using namespace navtalk;
using namespace navtalk::tests;
using namespace std::chrono_literals;

namespace {

const Cause k_lane{"gateway", "turn"};

// A store in which one finished job has taught the rate. The clock of events is the wall's, so that
// the rate is whatever this machine did.
struct PromisedPool {
  explicit PromisedPool(const auto& place)
      : jobs(open_jobs(place)), tenants(StoreBackend::open(place.url())) {}

  void teach() {
    add_job(jobs, new_job("first"));
    const Job job = claimed(jobs, jobs.now());
    jobs.finish(lease_of(job), "{}", jobs.now());
    tenants.divide(10, k_lane, jobs.now());
    tenants.divide(10, k_lane, jobs.now());
  }
  std::optional<JobEstimate> promise(const Job& job, TimePoint now) {
    return tenants.promise(std::span(&job.id, 1), now).front();
  }

  JobStore jobs;
  TenantStore tenants;
};

}  // namespace

STORE_TEST(
    "the first jobs are promised by a prior rate, until one has shown how fast they are rendered") {
  const TestType place;
  PromisedPool pool(place);
  pool.tenants.divide(1, k_lane, pool.jobs.now());
  const std::vector<VideoMinutes> works(1000, VideoMinutes(1min));
  const auto estimates = estimate(pool.tenants, {"acme"}, works);
  REQUIRE(estimates.back());
  // 1000 minutes at 0.8 a minute, with twice the time as a buffer.
  CHECK(estimates.back()->expected > 20h);
  CHECK(estimates.back()->eta > 2 * estimates.back()->expected);
  const Job job = pool.jobs.submit(new_job("ada"), k_user, pool.jobs.now()).job;
  REQUIRE(pool.promise(job, pool.jobs.now()));
  CHECK(pool.tenants.promise_of(job.id));
  CHECK(pool.tenants.division().capacity.rate == 0);  // the fleet goes by what was learnt
  pool.teach();
  const auto taught = estimate(pool.tenants, {"acme"}, works);
  REQUIRE(taught.back());
  CHECK(taught.back()->eta < estimates.back()->eta / 100);  // a job took milliseconds here
}

STORE_TEST(
    "a job that could not be promised when it was submitted is promised by a turn, with an event") {
  const TestType place;
  PromisedPool pool(place);
  const TimePoint now = pool.jobs.now();
  const JobId first = pool.jobs.submit(new_job("ada"), k_user, now).job.id;
  const Job second = pool.jobs.submit(new_job("ada"), k_user, now).job;
  CHECK_FALSE(pool.promise(second, now));  // behind another, and the lane has had no turn
  const JobId promised_before = pool.jobs.submit(new_job("ada"), k_user, now).job.id;
  pool.tenants.divide(1, k_lane, now + 1s);
  CHECK_FALSE(pool.tenants.promise_of(first));  // its gateway is about to promise it
  const auto before = pool.tenants.promise(std::span(&promised_before, 1), now + 1s).front();
  REQUIRE(before);
  pool.tenants.divide(1, k_lane, now + 6s);
  const auto late = pool.tenants.promise_of(second.id);
  REQUIRE(late);
  CHECK(late->first_at > now + 6s);
  CHECK(pool.tenants.promise_of(first));
  CHECK(pool.tenants.promise_of(promised_before)->first_at == before->promise);
  CHECK(pool.jobs.history(second.id).back().event == JobEvent::promise);
  CHECK(pool.jobs.history(promised_before).back().event != JobEvent::promise);
  // Those that come later are asked, too, and no job twice.
  const JobId third = pool.jobs.submit(new_job("ada"), k_user, now + 6s).job.id;
  pool.tenants.divide(1, k_lane, now + 12s);
  CHECK(pool.tenants.promise_of(third));
  const auto promises_of = [&](const JobId& id) {
    int count = 0;
    for (const JobHistory& one : pool.jobs.history(id)) count += one.event == JobEvent::promise;
    return count;
  };
  pool.tenants.divide(1, k_lane, now + 13s);
  CHECK(promises_of(second.id) == 1);
}

STORE_TEST(
    "a promise is moved earlier when the work ahead has gone, and the event says both times") {
  const TestType place;
  PromisedPool pool(place);
  pool.teach();
  const TimePoint now = pool.jobs.now();
  const Job job = pool.jobs.submit(new_job("ada"), k_user, now).job;
  StoreBackend::open(place.url())->write(Durability::durable, [&](Transaction& t) {
    insert_promise(t, job.number, now, now + 80min);
  });
  pool.tenants.divide(10, k_lane, now + 2min);
  CHECK(pool.tenants.promise_of(job.id)->changes == 0);
  pool.tenants.divide(10, k_lane, now + 4min);
  const auto changed = pool.tenants.promise_of(job.id);
  REQUIRE(changed->changes == 1);
  CHECK(changed->promised_at < now + 40min);
  CHECK(changed->first_at == now + 80min);
  const JobHistory last = pool.jobs.history(job.id).back();
  CHECK(last.event == JobEvent::promise);
  CHECK_THAT(last.why, Catch::Contains("less than half of the time"));
}

STORE_TEST("a waiting job has a place among its tenant's jobs, also when it is released") {
  const TestType place;
  PromisedPool pool(place);
  pool.teach();
  std::vector<JobId> ids;
  NewJob other = new_job("ada");
  other.spec.tenant = {"other"};
  add_job(pool.jobs, other);
  for (int i = 0; i < 2; ++i) ids.push_back(add_job(pool.jobs, new_job("ada")).id);
  ids.push_back(add_job(pool.jobs, new_job("ada", 1)).id);
  for (int i = 0; i < 2; ++i)
    ids.push_back(pool.jobs.submit(new_job("ada"), k_user, pool.jobs.now()).job.id);
  const std::vector<std::int64_t> positions = {2, 3, 1, 4, 5};
  const auto place_of = [&](const JobId& id) {
    return pool.tenants.outlook_of(id, CountFrom::end, pool.jobs.now()).position;
  };
  for (std::size_t i = 0; i < ids.size(); ++i) CHECK(place_of(ids[i]) == positions[i]);
  CHECK(estimate(pool.tenants, {"acme"}, VideoMinutes(1min))->position == 6);
  const auto run = pool.jobs.claim("w", by_shares(), std::nullopt);
  REQUIRE(run);
  CHECK_FALSE(place_of(run->id));
}

STORE_TEST("a job that was claimed more than once teaches no rate, however its tries count") {
  const TestType place;
  PromisedPool pool(place);
  const Job job = add_job(pool.jobs, new_job("ada"));
  const Job first = claimed(pool.jobs, pool.jobs.now());
  pool.jobs.finish_segment(lease_of(first), {.work = VideoMinutes(1min), .result = "{}"},
                           pool.jobs.now());
  SECTION("given back to users") { pool.jobs.yield(lease_of(first), "users", pool.jobs.now()); }
  SECTION("lost behind a segment") { pool.jobs.requeue_of("w", k_lane, pool.jobs.now()); }
  SECTION("submitted again behind a segment") {
    pool.jobs.cancel(job.id, k_user, pool.jobs.now());
    pool.jobs.resubmit(job.id, k_user, pool.jobs.now());
    pool.jobs.release(job.spec.tenant, k_any_work, 1, k_user, pool.jobs.now());
  }
  const Job second = claimed(pool.jobs, pool.jobs.now());
  REQUIRE(second.attempts == 1);
  REQUIRE(pool.jobs.finish(lease_of(second), "{}", pool.jobs.now()) == Recorded::now);
  pool.tenants.divide(10, k_lane, pool.jobs.now());
  CHECK(pool.tenants.division().capacity.rate == 0);
  // One that is claimed once does.
  pool.teach();
  CHECK(pool.tenants.division().capacity.rate > 0);
}

STORE_TEST("a short job says little of how long a long one takes") {
  const TestType place;
  PromisedPool pool(place);
  const auto rate_after = [&](VideoMinutes work) {
    NewJob job = new_job("ada");
    job.work = work;
    add_job(pool.jobs, job);
    pool.jobs.finish(lease_of(claimed(pool.jobs, pool.jobs.now())), "{}", pool.jobs.now());
    pool.tenants.divide(10, k_lane, pool.jobs.now());
    return pool.tenants.division().capacity.rate;
  };
  const double after_short = rate_after(VideoMinutes(1s));
  REQUIRE(after_short > 0);
  // Both take about as long; as a mean over the two, the rate would double at most.
  CHECK(rate_after(VideoMinutes(100h)) > 10 * after_short);
}

STORE_TEST("the time before a job's first frame is learnt apart where the worker tells it") {
  const TestType place;
  PromisedPool pool(place);
  const auto teach = [&](const std::string& result) {
    add_job(pool.jobs, new_job("ada"));
    pool.jobs.finish(lease_of(claimed(pool.jobs, pool.jobs.now())), result, pool.jobs.now());
    pool.tenants.divide(10, k_lane, pool.jobs.now());
    return pool.tenants.division().capacity;
  };
  CHECK(teach("{}").overhead == 0);
  CHECK(teach(R"({"rendering_s": "long"})").overhead == 0);
  const BatchCapacity told = teach(R"({"rendering_s": 0.000001})");
  CHECK(told.overhead > 0);
  CHECK(told.render_rate > told.rate);
  // Together with the work of those that wait, the overhead says how fast these are rendered.
  const double learnt = told.rate;
  NewJob long_one = new_job("ada");
  long_one.work = VideoMinutes(1000h);
  pool.jobs.submit(long_one, k_user, pool.jobs.now());
  CHECK(pool.tenants.division().capacity.rate > 1.2 * learnt);
}

STORE_TEST("what is submitted later is promised for later, by the work ahead") {
  const TestType place;
  PromisedPool pool(place);
  pool.teach();
  const std::vector<VideoMinutes> works(50, VideoMinutes(10h));
  const auto estimates = estimate(pool.tenants, {"acme"}, works);
  REQUIRE(estimates.size() == 50);
  for (std::size_t i = 0; i < works.size(); ++i) {
    REQUIRE(estimates[i]);
    CHECK(estimates[i]->position == static_cast<std::int64_t>(i) + 1);
    CHECK(estimates[i]->expected <= estimates[i]->eta);
    if (i > 0) CHECK(estimates[i]->eta > estimates[i - 1]->eta);
  }
  NewJob one = new_job("ada");
  one.work = VideoMinutes(10h);
  std::vector<JobId> ids;
  for (int i = 0; i < 3; ++i) ids.push_back(pool.jobs.submit(one, k_user, pool.jobs.now()).job.id);
  const auto promised = pool.tenants.promise(ids, pool.jobs.now());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    REQUIRE(promised[i]);
    CHECK(promised[i]->position == static_cast<std::int64_t>(i) + 1);
    CHECK(pool.tenants.promise_of(ids[i])->promised_at == promised[i]->promise);
  }
}

STORE_TEST("a job's place in its tenant's queue is the same from the front and from the end") {
  const TestType place;
  PromisedPool pool(place);
  pool.teach();
  NewJob one = new_job("ada"), other = new_job("ada");
  other.spec.tenant = {"other"};
  std::vector<JobId> ids;
  for (const int priority : {0, 1, 0, -1, 1}) {
    one.spec.priority = priority;
    one.work = VideoMinutes((1 + static_cast<int>(ids.size())) * 1h);
    ids.push_back(pool.jobs.submit(one, k_user, pool.jobs.now()).job.id);
    pool.jobs.submit(other, k_user, pool.jobs.now());
  }
  const TimePoint now = pool.jobs.now();
  const std::vector<std::int64_t> positions = {3, 1, 4, 5, 2};
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto front = pool.tenants.outlook_of(ids[i], CountFrom::front, now).estimate;
    REQUIRE(front);
    CHECK(front->position == positions[i]);
    CHECK(pool.tenants.outlook_of(ids[i], CountFrom::end, now).estimate == front);
  }
}

STORE_TEST("a released job is behind what was released before it, whoever's that is") {
  const TestType place;
  PromisedPool pool(place);
  pool.teach();
  NewJob long_one = new_job("ada"), short_one = new_job("ada");
  long_one.work = VideoMinutes(1000h);
  short_one.work = VideoMinutes(1min);
  short_one.spec.tenant = {"other"};
  const auto submitted = [&](const NewJob& job) {
    const JobId id = pool.jobs.submit(job, k_user, pool.jobs.now()).job.id;
    pool.tenants.divide(1, k_lane, pool.jobs.now());
    REQUIRE(pool.jobs.find(id)->state == JobState::released);
    return id;
  };
  const JobId first = submitted(long_one), second = submitted(short_one);
  const auto expected = [&](const JobId& id) {
    return pool.tenants.outlook_of(id, CountFrom::front, pool.jobs.now()).estimate->expected;
  };
  CHECK(expected(second) > expected(first));
}

STORE_TEST("a job that is claimed again needs its time before its first frame again") {
  const TestType place;
  PromisedPool pool(place);
  StoreBackend::open(place.url())->write(Durability::durable, [](Transaction& t) {
    const VideoMinutes work(100min);
    write_lane(t, {.gpus = 1,
                   .pace = {.rate = 1,
                            .measured = work,
                            .told = work,
                            .render_rate = 1,
                            .overhead = 10min,
                            .overheads = 1}});
  });
  NewJob job = new_job("ada");
  job.work = VideoMinutes(60min);
  const JobId id = add_job(pool.jobs, job).id;
  const auto expected = [&] {
    const TimePoint now = found(pool.jobs, id).changed_at;
    return pool.tenants.outlook_of(id, CountFrom::front, now).estimate->expected;
  };
  const auto finish_segment = [&](const Job& running, int index) {
    pool.jobs.finish_segment(lease_of(running),
                             {.index = index, .work = VideoMinutes(1min), .result = "{}"},
                             pool.jobs.now());
  };
  const Job first = claimed(pool.jobs, pool.jobs.now());
  CHECK(expected() == 70min);
  finish_segment(first, 0);
  CHECK(expected() == 59min);
  pool.jobs.requeue_of("w", k_lane, pool.jobs.now());
  const Job second = claimed(pool.jobs, pool.jobs.now());
  CHECK(expected() == 69min);
  finish_segment(second, 1);
  CHECK(expected() == 58min);
}

STORE_TEST("a promise that is due is changed with an event, and a second turn changes nothing") {
  const TestType place;
  PromisedPool pool(place);
  pool.teach();
  const TimePoint now = pool.jobs.now();
  const Job job = pool.jobs.submit(new_job("ada"), k_user, now).job;
  const auto promised = pool.promise(job, now);
  REQUIRE(promised);
  const TimePoint due = promised->promise;
  pool.tenants.divide(0, k_lane, due);
  const auto changed = pool.tenants.promise_of(job.id);
  REQUIRE(changed);
  CHECK(changed->changes == 1);
  CHECK(changed->first_at == due);
  CHECK(changed->promised_at >= due + 30s);
  const auto events = [&] {
    int count = 0;
    for (const JobHistory& one : pool.jobs.history(job.id))
      count += one.event == JobEvent::promise ? 1 : 0;
    return count;
  };
  CHECK(events() == 1);
  CHECK_THAT(pool.jobs.history(job.id).back().why, Catch::Contains(": "));
  pool.tenants.divide(0, k_lane, due + 1s);
  CHECK(events() == 1);
}

STORE_TEST(
    "without a worker a promise is moved by the time of a replacement, and the event says so") {
  const TestType place;
  PromisedPool pool(place);
  pool.teach();
  const auto store = place.open();
  write_lane_supply(*store, {.cold_start = 1000h, .replacement = 2000h});
  const TimePoint now = pool.jobs.now();
  const Job job = add_job(pool.jobs, new_job("ada"));
  REQUIRE(pool.promise(job, now));
  CHECK(pool.tenants.promise_of(job.id)->promised_at > now + 2000h);
  StoreBackend::open(place.url())->write(Durability::durable, [&](Transaction& t) {
    insert_promise(t, job.number, now, now + 41s);
  });
  pool.tenants.divide(1, k_lane, now + 30s);
  CHECK(pool.tenants.promise_of(job.id)->promised_at > now + 2000h);
  CHECK_THAT(pool.jobs.history(job.id).back().why, Catch::Contains("no worker serves"));
}

STORE_TEST(
    "promises are scored by what was said first, and a cancelled job's is kept without a score") {
  const TestType place;
  PromisedPool pool(place);
  pool.teach();
  const TimePoint now = pool.jobs.now();
  std::vector<Job> three;
  for (int i = 0; i < 3; ++i) {
    three.push_back(add_job(pool.jobs, new_job("ada")));
    REQUIRE(pool.promise(three.back(), now));
  }
  pool.jobs.finish(lease_of(claimed(pool.jobs, now)), "{}", now);
  pool.jobs.finish(lease_of(claimed(pool.jobs, now)), "{}", now + 24h);  // too late
  pool.jobs.cancel(three[2].id, k_user, now);
  pool.tenants.divide(10, k_lane, now + 24h);
  const JobPromiseScore score = pool.tenants.promise_score(now);
  CHECK(score.known == 2);
  CHECK(score.kept == 1);
  const auto cancelled = pool.tenants.promise_of(three[2].id);
  REQUIRE(cancelled);
  CHECK(cancelled->dropped);
  CHECK_FALSE(cancelled->finished_at);
  CHECK(cancelled->first_at > now);
  CHECK(pool.tenants.promise_score({}).known == 2);
  CHECK(pool.tenants.division().correction > 1);
}
