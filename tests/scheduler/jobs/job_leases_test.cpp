// The jobs' contract: claims, heartbeats, fencing, segments, retries; on both databases.
#include <algorithm>
#include <set>
#include <thread>

#include "core/base/guarded.h"
#include "scheduler/jobs/job_store.h"
#include "scheduler/jobs/kept_lease.h"
#include "tests/core/expect_error.h"
#include "tests/scheduler/jobs/job_contract.h"

using namespace navtalk;
using namespace navtalk::tests;
using namespace std::chrono_literals;
using test::expect_error;

namespace {

constexpr JobRules k_rules{
    .lease = 30s, .most_attempts = 3, .most_losses = 5, .first_delay = 5s, .longest_delay = 60s};
const Cause k_expiry{"requeue", "the lease has expired"};

JobSegment segment(int index, const std::string& where = "s") {
  return {.index = index, .work = VideoMinutes(10s), .result = where};
}

std::vector<std::string> events(JobStore& jobs, const JobId& id) {
  std::vector<std::string> names;
  for (const JobHistory& entry : jobs.history(id)) names.emplace_back(name(entry.event));
  return names;
}

using Names = std::vector<std::string>;

// Within a minute.
bool comes(const auto& is) {
  for (const auto until = std::chrono::steady_clock::now() + 60s;
       std::chrono::steady_clock::now() < until; std::this_thread::sleep_for(1ms)) {
    if (is()) return true;
  }
  return false;
}

}  // namespace

STORE_TEST("claims go by priority, then by submission, and only to released jobs") {
  const TestType place;
  JobStore jobs = open_jobs(place);
  const TimePoint now = jobs.now();
  add_job(jobs, new_job("first"));
  add_job(jobs, new_job("urgent", 5));
  add_job(jobs, new_job("second"));
  jobs.submit(new_job("queued", 9), k_user, now);
  CHECK(claimed(jobs, now).spec.avatar == "urgent");
  CHECK(claimed(jobs, now).spec.avatar == "first");
  CHECK(claimed(jobs, now).spec.avatar == "second");
  CHECK_FALSE(jobs.claim("w", by_priority, now));
}

STORE_TEST("another order of claims needs no other store") {
  const TestType place;
  JobStore jobs = open_jobs(place);
  const Job a = add_job(jobs, new_job("a", 9)), b = add_job(jobs, new_job("b"));
  add_job(jobs, new_job("c"));
  const ClaimOrder order = first_of({b.number, a.number});
  CHECK(jobs.claim("w", order, jobs.now())->id == b.id);
  CHECK(jobs.claim("w", order, jobs.now())->id == a.id);
  CHECK_FALSE(jobs.claim("w", order, jobs.now()));
}

STORE_TEST("of many workers that claim at once, each job goes to one") {
  const TestType place;
  JobStore jobs = open_jobs(place);
  static constexpr std::size_t k_jobs = 30;
  std::vector<NewJob> all(k_jobs, new_job("ada"));
  jobs.submit(std::span(all), k_user, jobs.now());
  jobs.release({"acme"}, k_any_work, 1000, k_user, jobs.now());
  Guarded<std::multiset<std::string>> got;
  {
    std::vector<std::jthread> workers;
    for (int i = 0; i < 4; ++i) {
      workers.emplace_back([&, i] {
        JobStore own = open_jobs(place);
        while (const auto job = own.claim("w" + std::to_string(i), by_priority, own.now()))
          got.with([&](auto& ids) { ids.insert(job->id.text); });
      });
    }
  }
  got.with([](const auto& ids) {
    CHECK(ids.size() == k_jobs);
    CHECK(std::set(ids.begin(), ids.end()).size() == k_jobs);
  });
}

STORE_TEST("a worker's heartbeat keeps its job, and a job whose lease expired is requeued") {
  const TestType place;
  JobStore jobs = open_jobs(place, k_rules);
  add_job(jobs, new_job("ada"));
  const TimePoint start = jobs.now();
  const Job job = claimed(jobs, start, "one");
  CHECK(job.lease_until == start + 30s);
  CHECK(job.worker == "one");
  CHECK(jobs.workers() == Names{"one"});
  CHECK(jobs.renew(lease_of(job), start + 20s));
  CHECK(jobs.requeue_expired(k_expiry, start + 50s - Duration(1)).empty());
  const auto requeued = jobs.requeue_expired(k_expiry, start + 50s);
  REQUIRE(requeued.size() == 1);
  CHECK(requeued[0].state == JobState::released);
  CHECK(jobs.workers().empty());
  CHECK_FALSE(jobs.renew(lease_of(job), start + 51s));
  CHECK(events(jobs, job.id) == Names{"submit", "release", "claim", "lose"});
}

STORE_TEST("leases are renewed together, and who lost one is told alone") {
  const TestType place;
  JobStore jobs = open_jobs(place, k_rules);
  for (const char* avatar : {"a", "b", "c", "d"}) add_job(jobs, new_job(avatar));
  const TimePoint start = jobs.now();
  const Job a = claimed(jobs, start), b = claimed(jobs, start), c = claimed(jobs, start),
            d = claimed(jobs, start);
  jobs.yield(lease_of(b), "another takes it", start);
  const Job again = claimed(jobs, start);
  REQUIRE(again.id == b.id);
  jobs.finish(lease_of(c), "done", start);
  const JobLease leases[] = {lease_of(d), lease_of(b), {{"unknown"}, 1}, lease_of(c), lease_of(a)};
  CHECK(jobs.renew(leases, start + 20s) == std::vector<bool>{true, false, false, false, true});
  CHECK(found(jobs, a.id).lease_until == start + 50s);
  CHECK(found(jobs, d.id).lease_until == start + 50s);
  CHECK(found(jobs, b.id).lease_until == start + 30s);
  CHECK(found(jobs, c.id).lease_until == TimePoint{});
}

STORE_TEST("what comes late, under an old token, is refused and changes nothing") {
  const TestType place;
  JobStore jobs = open_jobs(place, k_rules);
  add_job(jobs, new_job("ada"));
  const TimePoint start = jobs.now();
  const Job old = claimed(jobs, start, "one");
  jobs.requeue_expired(k_expiry, start + 30s);
  const auto all_refused = [&](const Job& before) {
    const JobLease lease = lease_of(old);
    CHECK(jobs.finish(lease, "late", start + 31s) == Recorded::refused);
    CHECK(jobs.finish_segment(lease, segment(0), start + 31s) == Recorded::refused);
    CHECK(jobs.refuse(lease, "late", start + 31s) == Recorded::refused);
    CHECK(jobs.fail(lease, "late", start + 31s) == Recorded::refused);
    CHECK_FALSE(jobs.renew(lease, start + 31s));
    CHECK(found(jobs, old.id) == before);
  };
  all_refused(found(jobs, old.id));  // nobody has it yet
  const Job again = claimed(jobs, start + 32s, "two");
  CHECK(again.id == old.id);
  CHECK(again.epoch > old.epoch);
  all_refused(again);
  CHECK(jobs.yield(lease_of(old), "late", start + 33s) == Recorded::refused);
  CHECK(jobs.finish(lease_of(again), R"({"url":"r"})", start + 34s) == Recorded::now);
  CHECK(jobs.finish(lease_of(old), "late", start + 35s) == Recorded::refused);
  CHECK(found(jobs, old.id).result == R"({"url":"r"})");
}

STORE_TEST("a result is recorded once, however often it is reported") {
  const TestType place;
  JobStore jobs = open_jobs(place);
  add_job(jobs, new_job("ada"));
  const Job job = claimed(jobs, jobs.now());
  CHECK(jobs.finish(lease_of(job), "first", jobs.now()) == Recorded::now);
  CHECK(jobs.finish(lease_of(job), "second", jobs.now()) == Recorded::before);
  CHECK(found(jobs, job.id).result == "first");
  CHECK(found(jobs, job.id).state == JobState::done);
  CHECK(events(jobs, job.id) == Names{"submit", "release", "claim", "finish"});
  CHECK(jobs.cancel(job.id, k_user, jobs.now())->state == JobState::done);
}

STORE_TEST("what a worker intended is known to the next one, and no old one may intend") {
  const TestType place;
  JobStore jobs = open_jobs(place, k_rules);
  add_job(jobs, new_job("ada"));
  const TimePoint start = jobs.now();
  const Job first = claimed(jobs, start);
  CHECK(jobs.intend(lease_of(first), "file 17", start) == Recorded::now);
  jobs.requeue_expired(k_expiry, start + 30s);
  CHECK(jobs.intend(lease_of(first), "file 18", start + 31s) == Recorded::refused);
  CHECK(claimed(jobs, start + 31s).result == "file 17");
}

STORE_TEST("a requeued job resumes behind its last finished segment") {
  const TestType place;
  JobStore jobs = open_jobs(place, k_rules);
  add_job(jobs, new_job("ada"));
  const TimePoint start = jobs.now();
  const Job first = claimed(jobs, start);
  CHECK(jobs.finish_segment(lease_of(first), segment(0, "s0"), start + 20s) == Recorded::now);
  CHECK(jobs.finish_segment(lease_of(first), segment(0, "s0"), start + 20s) == Recorded::before);
  CHECK(jobs.finish_segment(lease_of(first), segment(1, "s1"), start + 25s) == Recorded::now);
  expect_error(Code::invalid, {"segment 3 of job"},
               [&] { jobs.finish_segment(lease_of(first), segment(3), start + 25s); });
  CHECK(jobs.requeue_expired(k_expiry, start + 54s).empty());  // a segment is a heartbeat
  CHECK(jobs.requeue_expired(k_expiry, start + 55s).size() == 1);
  const Job again = claimed(jobs, start + 56s);
  CHECK(again.segments == 2);
  CHECK(again.finished == VideoMinutes(20s));
  CHECK(jobs.finish_segment(lease_of(again), segment(1, "other"), start + 57s) == Recorded::before);
  CHECK(jobs.finish_segment(lease_of(again), segment(2, "s2"), start + 58s) == Recorded::now);
  CHECK(jobs.segments(first.id) ==
        std::vector<JobSegment>{segment(0, "s0"), segment(1, "other"), segment(2, "s2")});
}

STORE_TEST("a try that finished a segment does not count, however it ends") {
  const TestType place;
  JobStore jobs = open_jobs(place, k_rules);
  const Job job = add_job(jobs, new_job("ada"));
  TimePoint now = jobs.now();
  const auto with_segment = [&](int index) {
    const Job one = claimed(jobs, now);
    CHECK(one.attempts == 1);
    CHECK(jobs.finish_segment(lease_of(one), segment(index), now) == Recorded::now);
    return one;
  };
  for (int i = 0; i < 4; ++i) {
    with_segment(i);
    now += 30s;
    CHECK(jobs.requeue_expired(k_expiry, now).size() == 1);
  }
  with_segment(4);
  CHECK(jobs.requeue_of("w", k_expiry, now).size() == 1);
  CHECK(jobs.fail(lease_of(with_segment(5)), "the disk is full", now) == Recorded::now);
  now += 5s;
  for (int i = 0; i < 3; ++i) {  // no further than that
    CHECK(found(jobs, job.id).state == JobState::released);
    CHECK(jobs.fail(lease_of(claimed(jobs, now)), "the disk is full", now) == Recorded::now);
    now += 60s;
  }
  CHECK(found(jobs, job.id).state == JobState::dead);
}

STORE_TEST("a failed try is repeated after a delay that grows, and the last one's reason stays") {
  const TestType place;
  JobStore jobs = open_jobs(place, k_rules);
  const Job job = add_job(jobs, new_job("ada"));
  TimePoint now = jobs.now();
  for (const Duration delay : {Duration(5s), Duration(10s)}) {
    CHECK(jobs.fail(lease_of(claimed(jobs, now)), "no memory", now) == Recorded::now);
    CHECK(found(jobs, job.id).state == JobState::released);
    CHECK_FALSE(jobs.claim("w", by_priority, now + delay - Duration(1)));
    now += delay;
  }
  const Job last = claimed(jobs, now);
  CHECK(last.attempts == 3);
  CHECK(jobs.fail(lease_of(last), "still no memory", now) == Recorded::now);
  CHECK(jobs.fail(lease_of(last), "again", now) == Recorded::before);
  const Job dead = found(jobs, job.id);
  CHECK(dead.state == JobState::dead);
  CHECK(dead.error == "still no memory");
  CHECK_FALSE(jobs.claim("w", by_priority, now + 1h));
  CHECK(jobs.resubmit(job.id, k_user, now)->attempts == 0);
}

STORE_TEST("a job behind one that waits for its retry is claimed first") {
  const TestType place;
  JobStore jobs = open_jobs(place, k_rules);
  const TimePoint now = jobs.now();
  add_job(jobs, new_job("broken", 9));
  add_job(jobs, new_job("sound"));
  jobs.fail(lease_of(claimed(jobs, now)), "no memory", now);
  CHECK(claimed(jobs, now).spec.avatar == "sound");
  CHECK(claimed(jobs, now + 5s).spec.avatar == "broken");
}

STORE_TEST("a job whose input is at fault is not tried again") {
  const TestType place;
  JobStore jobs = open_jobs(place);
  add_job(jobs, new_job("ada"));
  const Job job = claimed(jobs, jobs.now());
  CHECK(jobs.refuse(lease_of(job), "no sound", jobs.now()) == Recorded::now);
  CHECK(found(jobs, job.id).state == JobState::failed);
  CHECK(found(jobs, job.id).error == "no sound");
  CHECK_FALSE(jobs.claim("w", by_priority, jobs.now() + 1h));
}

STORE_TEST(
    "a job outlives more deaths of its gateway than it has tries, and fails as often as any "
    "other") {
  const TestType place;
  JobStore jobs = open_jobs(place, k_rules);
  const Job job = add_job(jobs, new_job("ada"));
  TimePoint now = jobs.now();
  const auto lose = [&] {
    CHECK(claimed(jobs, now).attempts == 1);
    REQUIRE(jobs.requeue_of("w", k_expiry, now).size() == 1);
  };
  lose();
  for (const Duration delay : {Duration(5s), Duration(10s), Duration(20s)}) {
    lose();
    CHECK(found(jobs, job.id).state == JobState::released);
    CHECK(found(jobs, job.id).attempts == 0);
    CHECK_FALSE(jobs.claim("w", by_priority, now + delay - Duration(1)));
    now += delay;
  }
  for (int tried = 1; tried <= 3; ++tried) {
    CHECK(found(jobs, job.id).state == JobState::released);
    CHECK(jobs.fail(lease_of(claimed(jobs, now)), "no memory", now) == Recorded::now);
    now += 60s;
  }
  CHECK(found(jobs, job.id).state == JobState::dead);
}

STORE_TEST(
    "a job that takes its gateways with it is dead in the end, and a segment or a new submission "
    "begins anew") {
  const TestType place;
  JobStore jobs = open_jobs(place, k_rules);
  const Job job = add_job(jobs, new_job("ada"));
  TimePoint now = jobs.now();
  const auto lose = [&](bool by_lease) {
    CHECK(found(jobs, job.id).state == JobState::released);
    claimed(jobs, now);
    now += 30s;
    CHECK((by_lease ? jobs.requeue_expired(k_expiry, now) : jobs.requeue_of("w", k_expiry, now))
              .size() == 1);
    now += 60s;
  };
  const auto dies_of_the_fifth = [&] {
    for (int i = 0; i < 5; ++i) lose(i % 2 == 0);
    CHECK(found(jobs, job.id).state == JobState::dead);
    CHECK(found(jobs, job.id).error == "the lease has expired, 5 times without a finished segment");
  };
  for (int i = 0; i < 4; ++i) lose(false);
  const Job one = claimed(jobs, now);
  CHECK(jobs.finish_segment(lease_of(one), segment(0), now) == Recorded::now);
  jobs.yield(lease_of(one), "users want the slot", now);
  dies_of_the_fifth();
  jobs.resubmit(job.id, k_user, now);
  jobs.release(job.spec.tenant, k_any_work, 1, k_user, now);
  dies_of_the_fifth();
}

STORE_TEST("a worker that stops gives its job back, and the try does not count") {
  const TestType place;
  JobStore jobs = open_jobs(place, k_rules);
  add_job(jobs, new_job("ada"));
  for (int i = 0; i < 5; ++i) {
    const Job job = claimed(jobs, jobs.now());
    CHECK(job.attempts == 1);
    CHECK(jobs.yield(lease_of(job), "shutdown", jobs.now()) == Recorded::now);
  }
}

STORE_TEST("the jobs of a worker that has ended are requeued before their leases expire") {
  const TestType place;
  JobStore jobs = open_jobs(place, k_rules);
  const Job a = add_job(jobs, new_job("a")), b = add_job(jobs, new_job("b"));
  claimed(jobs, jobs.now(), "gone");
  claimed(jobs, jobs.now(), "alive");
  const auto requeued = jobs.requeue_of("gone", k_expiry, jobs.now());
  REQUIRE(requeued.size() == 1);
  CHECK(requeued[0].id == a.id);
  CHECK(found(jobs, b.id).state == JobState::running);
}

STORE_TEST("a worker learns from its heartbeat that its job was cancelled") {
  const TestType place;
  JobStore jobs = open_jobs(place);
  add_job(jobs, new_job("ada"));
  const Job job = claimed(jobs, jobs.now());
  CHECK(jobs.cancel(job.id, k_user, jobs.now())->state == JobState::cancelled);
  CHECK_FALSE(jobs.renew(lease_of(job), jobs.now()));
  CHECK(jobs.finish(lease_of(job), "late", jobs.now()) == Recorded::refused);
}

STORE_TEST("a kept lease is renewed for as long as the work gets on") {
  const TestType place;
  JobStore jobs = open_jobs(place, {.lease = 5ms});
  add_job(jobs, new_job("ada"));
  const Job job = claimed(jobs, jobs.now());
  KeptLease kept(jobs, lease_of(job));
  // For twice as long as it would be without advance().
  const auto is_kept = [&] {
    return found(jobs, job.id).lease_until >= job.lease_until + 40 * 5ms;
  };
  CHECK(comes([&] {
    kept.advance();
    return is_kept();
  }));
  CHECK_FALSE(kept.lost());
}

STORE_TEST("a kept lease expires when the work has not got on for twenty leases") {
  const TestType place;
  JobStore jobs = open_jobs(place, {.lease = 5ms});
  add_job(jobs, new_job("ada"));
  const Job job = claimed(jobs, jobs.now());
  KeptLease kept(jobs, lease_of(job));
  const auto ends = [&] { return found(jobs, job.id).lease_until <= jobs.now() - 20 * 5ms; };
  CHECK(comes(ends));
}

STORE_TEST("whoever keeps a lease learns that it is lost") {
  const TestType place;
  JobStore jobs = open_jobs(place, {.lease = 60ms});
  add_job(jobs, new_job("ada"));
  KeptLease kept(jobs, lease_of(claimed(jobs, jobs.now())));
  jobs.requeue_of("w", k_expiry, jobs.now());
  CHECK(comes([&] { return kept.lost(); }));
}
