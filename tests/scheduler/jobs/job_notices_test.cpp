// Notices of jobs for their webhooks, and jobs that are forgotten; on both databases.
#include "scheduler/jobs/notices/job_notices.h"

#include <map>

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

constexpr std::size_t k_all = 100;

NoticeShare up_to(std::size_t notices) { return {.receivers = k_all, .each = notices}; }

// Over, with a notice.
void cancel_job(JobStore& jobs, const std::string& webhook, const TenantId& tenant = {"acme"}) {
  NewJob job = new_job("ada");
  job.spec.webhook = webhook;
  job.spec.tenant = tenant;
  const Job made = jobs.submit(job, k_user, jobs.now()).job;
  jobs.cancel(made.id, k_user, jobs.now());
}

std::map<std::string, int> by_webhook(const std::vector<JobNotice>& notices) {
  std::map<std::string, int> counts;
  for (const JobNotice& notice : notices) ++counts[notice.job.spec.webhook];
  return counts;
}

}  // namespace

STORE_TEST("the end of a job with a webhook is a notice, and nothing else of it is") {
  const TestType place;
  JobStore jobs = open_jobs(place);
  JobNotices notices(StoreBackend::open(place.url()));
  const Job told = add_job(jobs, told_job());
  CHECK(found(jobs, told.id).spec.webhook == "https://example.org/hook");
  CHECK(notices.take(up_to(10), 1min, notices.now()).empty());
  jobs.finish(lease_of(claimed(jobs, jobs.now())), "{}", jobs.now());
  add_job(jobs, new_job("theo"));
  jobs.finish(lease_of(claimed(jobs, jobs.now())), "{}", jobs.now());
  const auto taken = notices.take(up_to(10), 1min, notices.now());
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
  const auto taken = notices.take(up_to(1), 1min, now);
  REQUIRE(taken.size() == 1);
  const auto other = notices.take(up_to(10), 1min, now);
  REQUIRE(other.size() == 1);
  CHECK(other[0].number != taken[0].number);
  CHECK(notices.take(up_to(10), 1min, now + 59s).empty());
  notices.remove(taken[0].number);
  notices.postpone(other[0].number, now + 2min);
  CHECK(notices.take(up_to(10), 1min, now + 119s).empty());
  const auto again = notices.take(up_to(10), 1min, now + 2min);
  REQUIRE(again.size() == 1);
  CHECK(again[0].number == other[0].number);
  CHECK(again[0].failures == 1);
  CHECK(again[0].to == JobState::cancelled);
  notices.hold(std::span(&again[0].number, 1), now + 3min);
  CHECK(notices.take(up_to(10), 1min, now + 3min).at(0).failures == 1);
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
  CHECK(jobs.over_since(jobs.now() - 1h, 10).empty());
  CHECK(jobs.over_since(jobs.now() + 1h, 10).empty());  // its webhook is not told yet
  const auto due = notices.take(up_to(10), 1min, notices.now());
  REQUIRE(due.size() == 1);
  CHECK(jobs.over_since(jobs.now() + 1h, 10).empty());
  notices.remove(due[0].number);
  const std::vector<JobId> old = jobs.over_since(jobs.now() + 1h, 10);
  CHECK(old == std::vector<JobId>{over.id});
  jobs.forget(std::vector<JobId>{over.id, waits.id});
  CHECK_FALSE(jobs.find(over.id));
  CHECK(jobs.history(over.id).empty());
  CHECK(jobs.segments(over.id).empty());
  CHECK(notices.take(up_to(10), 1min, notices.now()).empty());
  CHECK(jobs.find(waits.id));
  CHECK(jobs.totals({"acme"}).contains(JobState::released));
  CHECK(jobs.over_since(jobs.now() + 1h, 10).empty());
}

STORE_TEST("the oldest jobs are forgotten first, and so many at once") {
  const TestType place;
  JobStore jobs = open_jobs(place);
  const TimePoint now = jobs.now();
  std::vector<JobId> ids;
  for (int i = 0; i < 3; ++i) {
    ids.push_back(add_job(jobs, new_job("ada")).id);
    jobs.cancel(ids.back(), k_user, now - i * 1h);
  }
  CHECK(jobs.over_since(now + 1h, 2) == std::vector<JobId>{ids[2], ids[1]});
  CHECK(jobs.over_since(now - 30min, 10) == std::vector<JobId>{ids[2], ids[1]});
}

STORE_TEST("promises are scored after all earlier jobs were forgotten") {
  const TestType place;
  JobStore jobs = open_jobs(place);
  TenantStore tenants(StoreBackend::open(place.url()));
  const auto render = [&] {
    const Job job = add_job(jobs, new_job("ada"));
    tenants.promise(std::span(&job.id, 1), jobs.now());
    jobs.finish(lease_of(claimed(jobs, jobs.now())), "{}", jobs.now());
    return job.id;
  };
  std::vector<JobId> old{render()};
  tenants.divide(1, k_user, jobs.now());
  for (int i = 0; i < 3; ++i) old.push_back(render());
  tenants.divide(1, k_user, jobs.now());
  CHECK(tenants.promise_score(jobs.now() - 1h).known == 4);
  jobs.forget(old);
  CHECK(tenants.promise_score(jobs.now() - 1h).known == 0);
  render();
  tenants.divide(1, k_user, jobs.now());
  CHECK(tenants.promise_score(jobs.now() - 1h).known == 1);
}

STORE_TEST("however many notices one receiver has, the others have their turn") {
  const TestType place;
  JobStore jobs = open_jobs(place);
  JobNotices notices(StoreBackend::open(place.url()));
  for (int i = 0; i < 40; ++i) cancel_job(jobs, "https://slow.example/" + std::to_string(i));
  cancel_job(jobs, "https://other.example/");
  cancel_job(jobs, "https://slow.example/theirs", {"initech"});
  const TimePoint now = notices.now();
  const auto taken = notices.take({.receivers = 2, .each = 3}, 1min, now);
  CHECK(by_webhook(taken) == std::map<std::string, int>{{"https://slow.example/0", 1},
                                                        {"https://slow.example/1", 1},
                                                        {"https://slow.example/2", 1},
                                                        {"https://other.example/", 1}});
  REQUIRE_FALSE(taken.empty());
  const NoticeShare others{.receivers = 2, .each = 3, .except = {taken[0].receiver}};
  CHECK(by_webhook(notices.take(others, 1min, now)) ==
        std::map<std::string, int>{{"https://slow.example/theirs", 1}});
}

STORE_TEST("old notices are given up without being tried") {
  const TestType place;
  JobStore jobs = open_jobs(place);
  JobNotices notices(StoreBackend::open(place.url()));
  for (int i = 0; i < 3; ++i) cancel_job(jobs, "https://gone.example/");
  CHECK(notices.give_up(notices.now() - 1h, 10).empty());
  const auto lost = notices.give_up(notices.now() + 1h, 2);
  REQUIRE(lost.size() == 1);
  CHECK(lost[0].notices == 2);
  CHECK(lost[0].receiver == "acme gone.example:443");
  CHECK(notices.take(up_to(10), 1min, notices.now()).size() == 1);
}

STORE_TEST("a notice tells when the job is promised") {
  const TestType place;
  JobStore jobs = open_jobs(place);
  TenantStore tenants(StoreBackend::open(place.url()));
  JobNotices notices(StoreBackend::open(place.url()));
  add_job(jobs, new_job("ada"));
  jobs.finish(lease_of(claimed(jobs, jobs.now())), "{}", jobs.now());
  for (int i = 0; i < 2; ++i) tenants.divide(1, k_user, jobs.now());
  const Job told = add_job(jobs, told_job());
  tenants.promise(std::span(&told.id, 1), jobs.now());
  jobs.finish(lease_of(claimed(jobs, jobs.now())), "{}", jobs.now());
  const auto promise = tenants.promise_of(told.id);
  REQUIRE(promise);
  const auto taken = notices.take(up_to(10), 1min, notices.now());
  REQUIRE(taken.size() == 1);
  CHECK(taken[0].promised_at == promise->promised_at);
}

STORE_TEST("a change of a promise is not told any more when the job is over") {
  const TestType place;
  JobStore jobs = open_jobs(place);
  JobNotices notices(StoreBackend::open(place.url()));
  const auto backend = StoreBackend::open(place.url());
  const auto promise = [&](const Job& job) {
    backend->write(Durability::relaxed, [&](Transaction& t) {
      insert_notice(t, found(jobs, job.id), JobEvent::promise, "later");
    });
  };
  const Job over = add_job(jobs, told_job()), waits = add_job(jobs, told_job());
  promise(over);
  promise(waits);
  jobs.cancel(over.id, k_user, jobs.now());
  const auto taken = notices.take(up_to(10), 1min, notices.now());
  REQUIRE(taken.size() == 2);
  CHECK(taken[0].job.id == waits.id);
  CHECK(taken[0].event == JobEvent::promise);
  CHECK(taken[1].job.id == over.id);
  CHECK(taken[1].event == JobEvent::cancel);
  notices.remove(taken[1].number);
  CHECK(jobs.over_since(jobs.now() + 1h, 10) == std::vector<JobId>{over.id});
}
