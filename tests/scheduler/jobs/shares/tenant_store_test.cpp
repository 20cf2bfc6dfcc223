// Tenants in the store: settings, the division, the order of claims, and promises; on both databases.
#include "scheduler/jobs/shares/tenant_store.h"

#include <atomic>
#include <cmath>
#include <thread>

#include "scheduler/jobs/promises/job_estimates.h"
#include "tests/core/expect_error.h"
#include "tests/scheduler/jobs/job_contract.h"

using namespace navtalk;
using namespace navtalk::tests;
using namespace std::chrono_literals;
using test::expect_error;

namespace {

const Cause k_divider{"gateway", "turn"};

TenantStore open_tenants(const auto& place, TenantTermsTable fixed = {}) {
  return TenantStore(StoreBackend::open(place.url()), std::move(fixed));
}

std::vector<Job> submit_for(JobStore& jobs, const std::string& tenant, int count, Duration work) {
  std::vector<NewJob> all(static_cast<std::size_t>(count), new_job("ada"));
  for (NewJob& job : all) {
    job.spec.tenant = {tenant};
    job.work = VideoMinutes(work);
  }
  std::vector<Job> made;
  for (const Submission& one : jobs.submit(std::span(all), k_user, jobs.now()))
    made.push_back(one.job);
  return made;
}

void release_for(JobStore& jobs, const std::string& tenant, int count, Duration work) {
  submit_for(jobs, tenant, count, work);
  jobs.release({tenant}, k_any_work, 1000, k_user, jobs.now());
}

double released_of(JobStore& jobs, const std::string& tenant) {
  const auto totals = jobs.totals({tenant});
  const auto found = totals.find(JobState::released);
  return found == totals.end() ? 0 : found->second.work.count();
}

// Turns of the division, one a second.
TimePoint divided(TenantStore& tenants, TimePoint from, int turns, double gpus = 10) {
  for (int i = 0; i < turns; ++i) tenants.divide(gpus, k_divider, from += 1s);
  return from;
}

}  // namespace

STORE_TEST("a tenant's terms are kept, those of the file stand above them") {
  const TestType place;
  TenantStore tenants = open_tenants(place);
  CHECK(tenants.terms_of({"acme"}) == TenantTerms{});
  const TenantTerms terms{
      .plan = 2, .weight = 1.5, .max_rate = 3, .max_queued = VideoMinutes(90min), .max_running = 4};
  tenants.set({"acme"}, terms);
  TenantStore others = open_tenants(place, {{{"theirs"}, {.plan = 7}}});
  CHECK(others.terms_of({"acme"}) == terms);
  CHECK(others.table().size() == 2);
  CHECK(others.terms_of({"theirs"}).plan == 7);
  expect_error(Code::invalid, {"theirs", "[[tenant]]"}, [&] { others.set({"theirs"}, terms); });
  expect_error(Code::invalid, {"not a valid tenant name"}, [&] { tenants.set({"a b"}, terms); });
  expect_error(Code::invalid, {"weight 0"}, [&] { tenants.set({"acme"}, {.weight = 0}); });
  expect_error(Code::invalid, {"plan -1"}, [&] { tenants.set({"acme"}, {.plan = -1}); });
  CHECK(tenants.terms_of({"acme"}) == terms);
}

STORE_TEST("a full queue is told before more is submitted") {
  const TestType place;
  JobStore jobs = open_jobs(place);
  TenantStore tenants = open_tenants(place);
  tenants.set({"acme"}, {.max_queued = VideoMinutes(5min)});
  submit_for(jobs, "acme", 2, 2min);
  tenants.check_queue({"acme"}, VideoMinutes(1min));
  tenants.check_queue({"other"}, VideoMinutes(1000h));
  expect_error(Code::no_capacity, {"acme", "4.0", "5.0"},
               [&] { tenants.check_queue({"acme"}, VideoMinutes(2min)); });
}

STORE_TEST("submissions at the same time do not exceed together what a tenant may have queued") {
  const TestType place;
  JobStore jobs = open_jobs(place);
  open_tenants(place).set({"acme"}, {.max_queued = VideoMinutes(10min)});
  std::atomic<int> made = 0, refused = 0;
  {
    std::vector<std::jthread> users;
    for (int i = 0; i < 8; ++i) {
      users.emplace_back([&] {
        JobStore own = open_jobs(place);
        const TenantStore tenants = open_tenants(place);
        try {
          own.submit(new_job("ada"), k_user, own.now(), tenants.queue_rule());
          ++made;
        } catch (const Error& error) {
          if (error.code() == Code::no_capacity) ++refused;
        }
      });
    }
  }
  CHECK(made == 5);
  CHECK(refused == 3);
  // A repeated submission is no further one.
  TenantStore tenants = open_tenants(place);
  tenants.set({"acme"}, {.max_queued = VideoMinutes(12min)});
  const NewJob keyed = new_job("ada", 0, "k");
  CHECK_FALSE(jobs.submit(keyed, k_user, jobs.now(), tenants.queue_rule()).existed);
  CHECK(jobs.submit(keyed, k_user, jobs.now(), tenants.queue_rule()).existed);
}

STORE_TEST("a queue that is full is told in so many digits that the sum is more than the limit") {
  const TestType place;
  JobStore jobs = open_jobs(place);
  TenantStore tenants = open_tenants(place);
  tenants.set({"acme"}, {.max_queued = VideoMinutes(5min)});
  const auto refusal = [&](Duration work) {
    try {
      tenants.check_queue({"acme"}, VideoMinutes(work));
    } catch (const Error& error) {
      return error.message();
    }
    return std::string();
  };
  CHECK(refusal(5min) == "");
  CHECK_THAT(refusal(6min), Catch::Contains("has 0.0 video-minutes queued, and 6.0 more would "
                                            "exceed its limit of 5.0"));
  CHECK_THAT(refusal(5min + 1s), Catch::Contains("0.00 video-minutes queued, and 5.02 more would "
                                                 "exceed its limit of 5.00"));
  CHECK_THAT(refusal(5min + 1us), Catch::Contains("5.0000000"));
  submit_for(jobs, "acme", 1, 5min - 1s);
  CHECK_THAT(refusal(1s + 1ms), Catch::Contains("has 4.98333 video-minutes queued, and 0.01668 "
                                                "more would exceed its limit of 5.00000"));
}

STORE_TEST("the division releases each tenant's share, and a small one's jobs at once") {
  const TestType place;
  JobStore jobs = open_jobs(place);
  TenantStore tenants = open_tenants(place);
  submit_for(jobs, "flood", 400, 1min);
  submit_for(jobs, "small", 1, 1min);
  const TimePoint now = divided(tenants, jobs.now(), 3);
  CHECK(released_of(jobs, "small") == 1);
  divided(tenants, now, 57);
  // Of 8 video-minutes a minute, half of which go into the small tenant's bucket, and what is lent.
  CHECK(released_of(jobs, "flood") >= 3);
  CHECK(released_of(jobs, "flood") <= 10);
  const Division division = tenants.division();
  REQUIRE(division.lines.size() == 2);
  CHECK(division.lines[0].share + division.lines[1].share <= 8 + 1e-9);
  CHECK(division.lines[0].queued_jobs + division.lines[0].released_jobs == 400);
}

STORE_TEST(
    "a job that is longer than any budget comes to its turn, and a bounded tenant pays the debt") {
  const TestType place;
  JobStore jobs = open_jobs(place);
  TenantStore tenants = open_tenants(place);
  tenants.set({"long"}, {.max_rate = 100});
  submit_for(jobs, "long", 2, 10h);
  submit_for(jobs, "other", 200, 1min);
  divided(tenants, jobs.now(), 60);
  CHECK(released_of(jobs, "long") == 600);
  const Division division = tenants.division();
  CHECK(division.lines[0].bucket.minutes < -500);
}

STORE_TEST("a tenant pays for the work that was measured, and not for the guess") {
  const TestType place;
  JobStore jobs = open_jobs(place);
  TenantStore tenants = open_tenants(place);
  tenants.set({"acme"}, {.weight = 2});
  submit_for(jobs, "acme", 1, 60min);
  const auto line = [&] { return tenants.division().line_of({"acme"}, {}); };
  divided(tenants, jobs.now(), 1);
  const double full = line().bucket.minutes + 60;
  REQUIRE(full > 0);
  const auto job = jobs.claim("w", by_shares(), jobs.now());
  REQUIRE(job);
  CHECK(line().place.finished == Approx(30));
  REQUIRE(jobs.measure(lease_of(*job), VideoMinutes(6min)));
  CHECK(line().bucket.minutes == Approx(full - 6));
  CHECK(line().place.finished == Approx(3));
  // A guess may be too low as well.
  REQUIRE(jobs.measure(lease_of(*job), VideoMinutes(90min)));
  CHECK(line().bucket.minutes == Approx(full - 90));
  CHECK(line().place.finished == Approx(45));
  jobs.finish(lease_of(*job), "{}", jobs.now());
  CHECK(line().bucket.minutes == Approx(full - 90));
  CHECK(line().place.finished == Approx(45));
}

STORE_TEST("what a tenant's job gives back unrendered is not paid for twice") {
  const TestType place;
  JobStore jobs = open_jobs(place, {.first_delay = 0s});
  TenantStore tenants = open_tenants(place);
  submit_for(jobs, "acme", 1, 60min);
  const auto line = [&] { return tenants.division().line_of({"acme"}, {}); };
  divided(tenants, jobs.now(), 1);
  const double full = line().bucket.minutes + 60;
  const auto claim = [&] {
    const auto job = jobs.claim("w", by_shares(), jobs.now());
    REQUIRE(job);
    CHECK(line().place.finished == Approx(60));
    return lease_of(*job);
  };
  JobLease lease = claim();
  jobs.yield(lease, "users want the GPU", jobs.now());
  CHECK(line().place.finished == Approx(0));
  lease = claim();
  jobs.fail(lease, "the worker is gone", jobs.now());
  CHECK(line().place.finished == Approx(0));
  claim();
  jobs.requeue_of("w", k_divider, jobs.now());
  CHECK(line().place.finished == Approx(0));
  lease = claim();
  // Ten minutes are rendered: so much stays paid.
  jobs.finish_segment(lease, {.index = 0, .work = VideoMinutes(10min)}, jobs.now());
  jobs.yield(lease, "users want the GPU", jobs.now());
  CHECK(line().place.finished == Approx(10));
  CHECK(line().bucket.minutes == Approx(full - 60));
  lease = claim();
  jobs.cancel(lease.job, k_user, jobs.now());
  CHECK(line().place.finished == Approx(10));
  CHECK(line().bucket.minutes == Approx(full - 10));
}

STORE_TEST("after a job that is refused it is another tenant's turn") {
  const TestType place;
  JobStore jobs = open_jobs(place);
  submit_for(jobs, "acme", 3, 60min);
  submit_for(jobs, "b", 1, 60min);
  for (const char* const tenant : {"acme", "b"})
    jobs.release({tenant}, k_any_work, 1000, k_user, jobs.now());
  for (const char* const expected : {"acme", "b", "acme"}) {
    const auto job = jobs.claim("w", by_shares(), jobs.now());
    REQUIRE(job);
    CHECK(job->spec.tenant.text == expected);
    jobs.refuse(lease_of(*job), "no sound", jobs.now());
  }
}

STORE_TEST("a job that is released to an idle GPU costs its tenant's share nothing") {
  const TestType place;
  JobStore jobs = open_jobs(place);
  TenantStore tenants = open_tenants(place);
  const auto made = submit_for(jobs, "acme", 2, 60min);
  const auto line = [&] { return tenants.division().line_of({"acme"}, {}); };
  divided(tenants, jobs.now(), 1, 1000);
  REQUIRE(line().bucket.minutes < 0);
  REQUIRE(found(jobs, made[1].id).state == JobState::released);
  const double before = line().bucket.minutes;
  jobs.cancel(made[1].id, k_user, jobs.now());
  CHECK(line().bucket.minutes == Approx(before));
}

STORE_TEST("claims take turns between tenants, and keep their bounds on running jobs") {
  const TestType place;
  JobStore jobs = open_jobs(place);
  TenantStore tenants = open_tenants(place);
  submit_for(jobs, "flood", 20, 1min);
  for (const char* const tenant : {"b", "c"}) submit_for(jobs, tenant, 2, 1min);
  tenants.set({"b"}, {.max_running = 1});
  for (const char* const tenant : {"flood", "b", "c"})
    jobs.release({tenant}, k_any_work, 1000, k_user, jobs.now());
  std::map<std::string, int> claims;
  for (int i = 0; i < 6; ++i) {
    const auto job = jobs.claim("w", by_shares(), jobs.now());
    REQUIRE(job);
    ++claims[job->spec.tenant.text];
  }
  CHECK(claims == std::map<std::string, int>{{"flood", 3}, {"b", 1}, {"c", 2}});
}

STORE_TEST("the next job of a tenant with a largest number can be claimed as soon as one ends") {
  const TestType place;
  JobStore jobs = open_jobs(place);
  TenantStore tenants = open_tenants(place);
  tenants.set({"big"}, {.max_running = 1});
  submit_for(jobs, "big", 10, 100ms);
  divided(tenants, jobs.now(), 2, 1);
  for (int i = 0; i < 3; ++i) {
    CHECK(tenants.has_claimable(jobs.now()));
    const auto job = jobs.claim("w", by_shares(), jobs.now());
    REQUIRE(job);  // without a turn of the division between them
    CHECK_FALSE(jobs.claim("w", by_shares(), jobs.now()));
    CHECK_FALSE(tenants.has_claimable(jobs.now()));  // those that are released wait for its end
    jobs.finish(lease_of(*job), "{}", jobs.now());
  }
}

STORE_TEST("a job whose pause has ended is claimable, whatever the counts say of it") {
  const TestType place;
  JobStore jobs = open_jobs(place, {.first_delay = 1h});
  TenantStore tenants = open_tenants(place);
  release_for(jobs, "acme", 1, 1min);
  const auto job = jobs.claim("w", by_shares(), jobs.now());
  REQUIRE(job);
  jobs.fail(lease_of(*job), "the worker is gone", jobs.now());
  CHECK_FALSE(tenants.has_claimable(jobs.now()));
  CHECK(tenants.has_claimable(jobs.now() + 2h));
}

STORE_TEST(
    "among tenants that have had the same, the first name is next, whoever submitted first") {
  const TestType place;
  JobStore jobs = open_jobs(place);
  for (const char* const tenant : {"c", "a", "b"}) release_for(jobs, tenant, 2, 1min);
  for (const char* const expected : {"a", "b", "c", "a", "b", "c"})
    CHECK(jobs.claim("w", by_shares(), std::nullopt).value().spec.tenant.text == expected);
  CHECK_FALSE(jobs.claim("w", by_shares(), std::nullopt));
}

STORE_TEST("a tenant whose released jobs are counted but not there is passed over") {
  const TestType place;
  JobStore jobs = open_jobs(place);
  StoreBackend::open(place.url())->write(Durability::durable, [](Transaction& t) {
    t.db.run("INSERT INTO job_totals (tenant, state, jobs, work) VALUES ($1, 1, 1, 60000000)",
             {"a"});
  });
  CHECK_FALSE(jobs.claim("w", by_shares(), std::nullopt));
  release_for(jobs, "b", 1, 1min);
  const auto job = jobs.claim("w", by_shares(), std::nullopt);
  REQUIRE(job);
  CHECK(job->spec.tenant.text == "b");
  CHECK_FALSE(jobs.claim("w", by_shares(), std::nullopt));
}

STORE_TEST("a tenant whose jobs all wait for their next try is passed over") {
  const TestType place;
  JobStore jobs = open_jobs(place, {.first_delay = 1h});
  release_for(jobs, "a", 1, 1min);
  jobs.yield_for_later(lease_of(jobs.claim("w", by_shares(), std::nullopt).value()), "full",
                       jobs.now(), 1h);
  CHECK_FALSE(jobs.claim("w", by_shares(), std::nullopt));
  release_for(jobs, "b", 1, 1min);
  CHECK(jobs.claim("w", by_shares(), std::nullopt).value().spec.tenant.text == "b");
  CHECK(jobs.claim("w", by_shares(), jobs.now() + 2h).value().spec.tenant.text == "a");
}

STORE_TEST("a claim's lease begins at the store's time, unless another one is given") {
  const TestType place;
  JobStore jobs = open_jobs(place);
  release_for(jobs, "a", 2, 1min);
  const TimePoint before = jobs.now();
  const TimePoint until = jobs.claim("w", by_shares(), std::nullopt).value().lease_until;
  CHECK(until >= before + jobs.rules().lease);
  CHECK(until <= jobs.now() + jobs.rules().lease);
  CHECK(jobs.claim("w", by_shares(), before + 1h).value().lease_until ==
        before + 1h + jobs.rules().lease);
}

STORE_TEST("a higher plan is claimed first, also where only the file says so") {
  const TestType place;
  JobStore jobs = open_jobs(place);
  submit_for(jobs, "a", 3, 1min);
  submit_for(jobs, "gold", 3, 1min);
  for (const char* const tenant : {"a", "gold"})
    jobs.release({tenant}, k_any_work, 1000, k_user, jobs.now());
  const ClaimOrder order = by_shares({{{"gold"}, {.plan = 1}}});
  for (const char* const expected : {"gold", "gold", "gold", "a"}) {
    const auto job = jobs.claim("w", order, jobs.now());
    REQUIRE(job);
    CHECK(job->spec.tenant.text == expected);
  }
}

STORE_TEST("jobs are counted by tenant and state through every change") {
  const TestType place;
  JobStore jobs = open_jobs(place);
  TenantStore tenants = open_tenants(place);
  const auto made = submit_for(jobs, "acme", 4, 2min);
  jobs.cancel(made[3].id, k_user, jobs.now());
  jobs.release({"acme"}, VideoMinutes(4min), 10, k_user, jobs.now());
  const Job running = claimed(jobs, jobs.now());
  Division division = tenants.division();
  const TenantLine& line = division.line_of({"acme"}, {});
  CHECK(line.queued_jobs == 1);
  CHECK(line.released_jobs == 1);
  CHECK(line.running_jobs == 1);
  CHECK(line.queued.count() + line.released.count() + line.running.count() == 6);
  jobs.finish(lease_of(running), "{}", jobs.now());
  division = tenants.division();
  CHECK(division.line_of({"acme"}, {}).running_jobs == 0);
}

STORE_TEST("a job that waits for its next try does not count as one that wants a slot") {
  const TestType place;
  JobStore jobs = open_jobs(place, {.first_delay = 1h});
  TenantStore tenants = open_tenants(place);
  const auto claim = [&] { return jobs.claim("w", by_shares(), jobs.now()).value(); };
  for (const char* const failing : {"x", "y"}) {
    release_for(jobs, failing, 1, 60min);
    jobs.yield_for_later(lease_of(claim()), "the gateway's disk is full", jobs.now(), 5s);
  }
  release_for(jobs, "flood", 5, 60min);
  std::vector<JobId> flood;
  for (int i = 0; i < 3; ++i) flood.push_back(claim().id);
  release_for(jobs, "b", 2, 60min);
  REQUIRE(claim().spec.tenant.text == "b");
  // Each of two has two of four slots. Each of four would have one.
  CHECK(tenants.preemptions("w", true, {.least_run = {}}) ==
        std::vector<JobPreemption>{{.jobs = flood, .count = 1}});
}

STORE_TEST("where a job of one gateway gives way, no other one does for the same need") {
  const TestType place;
  JobStore jobs = open_jobs(place);
  TenantStore tenants = open_tenants(place);
  const auto pool = place.open();
  pool->add({.gpu = {.id = {"a"}, .name = "a", .state = State::idle, .slots = 4}}, k_user);
  release_for(jobs, "flood", 6, 60min);
  std::vector<Lease> slots;
  std::vector<Job> flood;
  for (const char* gateway : {"one", "one", "other", "other"}) {
    const Claimant claimant{
        .id = {std::to_string(slots.size())}, .gateway = gateway, .lane = Lane::batch};
    slots.push_back(pool->claim(claimant, 1min).value());
    flood.push_back(jobs.claim(gateway, by_shares(), jobs.now()).value());
  }
  release_for(jobs, "b", 1, 60min);
  const auto asked = [&] {
    std::size_t runs = 0;
    for (const char* gateway : {"one", "other"})
      for (const JobPreemption& one : tenants.preemptions(gateway, true, {.least_run = {}}))
        runs += one.count;
    return runs;
  };
  CHECK(asked() == 1);
  jobs.yield(lease_of(flood[0]), "another tenant's job is next", jobs.now());
  CHECK(asked() == 0);  // its slot comes back
  pool->release(slots[0].id, slots[0].epoch);
  const Claimant next{.id = {"next"}, .gateway = "other", .lane = Lane::batch};
  REQUIRE(pool->claim(next, 1min));
  CHECK(asked() == 0);  // it is about to be used
  REQUIRE(jobs.claim("other", by_shares(), jobs.now()).value().spec.tenant.text == "b");
  CHECK(asked() == 0);
}

STORE_TEST("a slot whose lease has run out makes no room for another tenant's job") {
  const TestType place;
  JobStore jobs = open_jobs(place);
  TenantStore tenants = open_tenants(place);
  const auto pool = place.open();
  pool->add({.gpu = {.id = {"a"}, .name = "a", .state = State::idle, .slots = 4}}, k_user);
  release_for(jobs, "flood", 6, 60min);
  for (const char* claimant : {"one", "two", "three"}) {
    REQUIRE(pool->claim({.id = {claimant}, .gateway = "w", .lane = Lane::batch}, 1min));
    REQUIRE(jobs.claim("w", by_shares(), jobs.now()));
  }
  release_for(jobs, "b", 1, 60min);
  REQUIRE(pool->claim({.id = {"dead"}, .gateway = "dead", .lane = Lane::batch}, 1us));
  REQUIRE(pool->leases().size() == 4);
  std::size_t asked = 0;
  for (const JobPreemption& one : tenants.preemptions("w", true, {.least_run = {}}))
    asked += one.count;
  CHECK(asked == 1);
}

STORE_TEST("what a tenant has had of the slots is kept, and counts where jobs give way") {
  const TestType place;
  JobStore jobs = open_jobs(place);
  TenantStore tenants = open_tenants(place);
  std::vector<JobId> flood;
  const auto add = [&](const std::string& tenant, int claims) {
    release_for(jobs, tenant, 5, 60min);
    for (int i = 0; i < claims; ++i) {
      const Job job = jobs.claim("w", by_shares(), jobs.now()).value();
      REQUIRE(job.spec.tenant.text == tenant);
      if (tenant == "flood") flood.push_back(job.id);
    }
  };
  add("flood", 2);
  const TimePoint first = divided(tenants, jobs.now(), 1, 4);
  tenants.divide(4, k_divider, first + 1h);
  const double slots = open_tenants(place).division().line_of({"flood"}, {}).history.slots;
  CHECK(slots == Approx(2 * (1 - std::exp(-1))));
  add("b", 2);
  CHECK(tenants.preemptions("w", true, {.least_run = {}}) ==
        std::vector<JobPreemption>{{.jobs = flood, .count = 1}});
}

STORE_TEST("long jobs within a tenant's part are released at once, and cost a full bucket's debt") {
  const TestType place;
  JobStore jobs = open_jobs(place);
  TenantStore tenants = open_tenants(place);
  submit_for(jobs, "a", 9, 60min);
  divided(tenants, jobs.now(), 1, 4);
  CHECK(released_of(jobs, "a") == 4 * 60);
  CHECK(tenants.division().line_of({"a"}, {}).bucket.minutes == Approx(-60).margin(1));
}

STORE_TEST("a flood's jobs give way, of the worker that has the most of them") {
  const TestType place;
  JobStore jobs = open_jobs(place);
  TenantStore tenants = open_tenants(place);
  const PreemptionRules at_once{.least_run = {}};
  submit_for(jobs, "flood", 5, 60min);
  jobs.release({"flood"}, k_any_work, 1000, k_user, jobs.now());
  std::vector<Job> running;
  for (const char* const worker : {"w", "v", "w"})
    running.push_back(jobs.claim(worker, by_shares(), jobs.now()).value());
  CHECK(tenants.preemptions("w", true, at_once).empty());
  const std::vector<Job> other = submit_for(jobs, "b", 1, 60min);
  CHECK(tenants.preemptions("w", true, at_once).empty());  // it is not released
  jobs.release({"b"}, k_any_work, 1000, k_user, jobs.now());
  CHECK(tenants.preemptions("w").empty());  // they were claimed just now
  const std::vector<JobPreemption> wanted = tenants.preemptions("w", true, at_once);
  CHECK(wanted == std::vector<JobPreemption>{{.jobs = {running[0].id, running[2].id}, .count = 1}});
  CHECK(tenants.preemptions("v", true, at_once).empty());
  jobs.finish_segment(lease_of(running[2]), {.work = VideoMinutes(1min), .result = "{}"},
                      jobs.now());
  jobs.yield(lease_of(running[2]), "another tenant's job is next", jobs.now());
  const Job next = jobs.claim("w", by_shares(), jobs.now()).value();
  CHECK(next.id == other[0].id);
  const Job goes_on = jobs.claim("w", by_shares(), jobs.now()).value();
  CHECK(goes_on.id == running[2].id);
  CHECK(goes_on.attempts == 1);
  CHECK(goes_on.segments == 1);
}
