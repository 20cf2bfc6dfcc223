// Notices of jobs for their webhooks, and jobs that are forgotten; on both databases.
#include "scheduler/jobs/notices/job_notices.h"

#include "scheduler/jobs/shares/tenant_store.h"
#include "tests/scheduler/jobs/job_contract.h"

using namespace navtalk;
using namespace navtalk::tests;
using namespace std::chrono_literals;

namespace {

NewJob told_job() {
  NewJob job = new_job("ada");
  job.spec.webhook = "https://example.org/hook";
  return job;
}

}  // namespace

STORE_TEST("the end of a job with a webhook is a notice, and nothing else of it is") {
  const TestType place;
  JobStore jobs = open_jobs(place);
  JobNotices notices(StoreBackend::open(place.url()));
  const Job told = add_job(jobs, told_job());
  CHECK(found(jobs, told.id).spec.webhook == "https://example.org/hook");
  CHECK(notices.take(10, 1min, notices.now()).empty());
  jobs.finish(lease_of(claimed(jobs, jobs.now())), "{}", jobs.now());
  add_job(jobs, new_job("theo"));
  jobs.finish(lease_of(claimed(jobs, jobs.now())), "{}", jobs.now());
  const auto taken = notices.take(10, 1min, notices.now());
  REQUIRE(taken.size() == 1);
  CHECK(taken[0].job.id == told.id);
  CHECK(taken[0].event == JobEvent::finish);
  CHECK(taken[0].to == JobState::done);
  CHECK(taken[0].failures == 0);
}

STORE_TEST("a notice that was taken is due again after its hold, until it is removed") {
  const TestType place;
  JobStore jobs = open_jobs(place);
  JobNotices notices(StoreBackend::open(place.url()));
  for (int i = 0; i < 2; ++i) {
    const Job job = add_job(jobs, told_job());
    jobs.cancel(job.id, k_user, jobs.now());
  }
  const TimePoint now = notices.now();
  const auto taken = notices.take(1, 1min, now);
  REQUIRE(taken.size() == 1);
  const auto other = notices.take(10, 1min, now);
  REQUIRE(other.size() == 1);
  CHECK(other[0].number != taken[0].number);
  CHECK(notices.take(10, 1min, now + 59s).empty());
  notices.remove(taken[0].number);
  notices.postpone(other[0].number, now + 2min);
  CHECK(notices.take(10, 1min, now + 119s).empty());
  const auto again = notices.take(10, 1min, now + 2min);
  REQUIRE(again.size() == 1);
  CHECK(again[0].number == other[0].number);
  CHECK(again[0].failures == 1);
  CHECK(again[0].to == JobState::cancelled);
  notices.hold(again[0].number, now + 3min);
  CHECK(notices.take(10, 1min, now + 3min).at(0).failures == 1);
}

STORE_TEST("jobs are forgotten with their history when they have been over for long enough") {
  const TestType place;
  JobStore jobs = open_jobs(place);
  JobNotices notices(StoreBackend::open(place.url()));
  TenantStore tenants(StoreBackend::open(place.url()));
  const Job over = add_job(jobs, told_job());
  const Job run = claimed(jobs, jobs.now());
  jobs.finish_segment(lease_of(run), {.index = 0, .work = run.work, .result = "{}"}, jobs.now());
  jobs.finish(lease_of(run), "{}", jobs.now());
  const Job waits = add_job(jobs, told_job());
  tenants.divide(1, k_user, jobs.now());
  CHECK(jobs.forget(jobs.now() - 1h, 10).empty());
  CHECK(jobs.forget(jobs.now() + 1h, 10) == std::vector<JobId>{over.id});
  CHECK_FALSE(jobs.find(over.id));
  CHECK(jobs.history(over.id).empty());
  CHECK(jobs.segments(over.id).empty());
  CHECK(notices.take(10, 1min, notices.now()).empty());
  CHECK(jobs.find(waits.id));
  CHECK(jobs.totals({"acme"}).contains(JobState::released));
  CHECK(jobs.forget(jobs.now() + 1h, 10).empty());
}
