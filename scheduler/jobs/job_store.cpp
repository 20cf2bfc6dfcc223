#include "scheduler/jobs/job_store.h"

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/text/printable.h"
#include "scheduler/jobs/idempotency_conflict.h"
#include "scheduler/jobs/job_table.h"
#include "scheduler/jobs/release.h"
#include "scheduler/pool/tenant_name.h"
#include "scheduler/store/columns.h"
#include "scheduler/store/run_work.h"

namespace navtalk {
namespace {

constexpr Durability k_durable = Durability::durable;

void check(const NewJob& job) {
  if (valid_tenant_name(job.spec.tenant)) return;
  throw Error(Code::invalid, "'" + printable_start(job.spec.tenant.text, k_longest_tenant) +
                                 "' is not a valid tenant name: " + k_tenant_name_rule);
}

void check_same(const Job& before, const NewJob& job) {
  const bool known = !before.request.empty() && !job.request.empty();
  if (known ? before.request == job.request : before.spec == job.spec) return;
  throw IdempotencyConflict(
      fmt::format("the idempotency key '{}' was used for another job, {}: give a new one",
                  printable(job.key), before.id.text));
}

Submission submitted(Transaction& t, const NewJob& job, const Cause& cause, TimePoint now,
                     const SubmitRule& rule) {
  const auto before = job.key.empty() ? std::nullopt : find_job(t, job.spec.tenant, job.key);
  if (!before) {
    if (rule) rule(t, job);
    return {.job = insert_job(t, job, cause, now)};
  }
  check_same(*before, job);
  return {.job = *before, .existed = true};
}

// What the attempt leaves behind when it ends without a result.
void end_attempt(Job& job, const std::string& why) {
  job.error = why;
  job.lease_until = {};
}

// As end_attempt(). An attempt that finished a segment does not count: a job of many segments ends,
// however often its workers are lost meanwhile.
void end_failed_attempt(Transaction& t, Job& job, const std::string& why) {
  if (segment_since_claim(t, job)) --job.attempts;
  end_attempt(job, why);
}

}  // namespace

std::vector<Submission> JobStore::submit(std::span<const NewJob> jobs, const Cause& cause,
                                         TimePoint now, const SubmitRule& rule) {
  for (const NewJob& job : jobs) check(job);
  return in_write(*backend_, k_durable, [&](Transaction& t) {
    std::vector<Submission> all;
    for (const NewJob& job : jobs) all.push_back(submitted(t, job, cause, now, rule));
    return all;
  });
}

Submission JobStore::submit(const NewJob& job, const Cause& cause, TimePoint now,
                            const SubmitRule& rule) {
  return submit(std::span(&job, 1), cause, now, rule).front();
}

std::optional<Job> JobStore::asked_before(const NewJob& job) {
  std::optional<Job> before = find(job.spec.tenant, job.key);
  if (!before || before->request.empty()) return std::nullopt;
  check_same(*before, job);
  return before;
}

JobTotal JobStore::release(const TenantId& tenant, VideoMinutes budget, std::size_t most,
                           const Cause& cause, TimePoint now) {
  return in_write(*backend_, k_durable, [&](Transaction& t) {
    return release_jobs(t, tenant, budget, most, cause, now, nullptr);
  });
}

std::optional<Job> JobStore::resubmit(const JobId& id, const Cause& cause, TimePoint now) {
  return in_write(*backend_, k_durable, [&](Transaction& t) {
    auto job = find_job(t, id);
    if (!job || !next(job->state, JobEvent::resubmit)) return job;
    job->attempts = 0;
    job->error.clear();
    apply(t, *job, JobEvent::resubmit, cause, now);
    return job;
  });
}

std::optional<Job> JobStore::cancel(const JobId& id, const Cause& cause, TimePoint now) {
  return in_write(*backend_, k_durable, [&](Transaction& t) {
    auto job = find_job(t, id);
    if (!job || !next(job->state, JobEvent::cancel)) return job;
    job->not_before = {};
    job->lease_until = {};
    apply(t, *job, JobEvent::cancel, cause, now);
    return job;
  });
}

std::optional<Job> JobStore::find(const JobId& id) {
  return in_read(*backend_, [&](Transaction& t) { return find_job(t, id); });
}

std::optional<Job> JobStore::find(const TenantId& tenant, const std::string& key) {
  return in_read(*backend_, [&](Transaction& t) { return find_job(t, tenant, key); });
}

JobPage JobStore::list(const JobQuery& query) {
  return in_read(*backend_, [&](Transaction& t) {
    const std::size_t limit = query.limit + 1;  // one more tells whether there is a next page
    JobPage page;
    if (query.state) {
      const DbValue values[] = {query.tenant.text, query.after, column::of(limit),
                                column::of(*query.state)};
      page.jobs = select_jobs(
          t, "WHERE tenant = $1 AND state = $4 AND number > $2 ORDER BY number LIMIT $3", values,
          query.texts);
    } else {
      const DbValue values[] = {query.tenant.text, query.after, column::of(limit)};
      page.jobs = select_jobs(t, "WHERE tenant = $1 AND number > $2 ORDER BY number LIMIT $3",
                              values, query.texts);
    }
    if (page.jobs.size() == limit) {
      page.jobs.pop_back();
      if (!page.jobs.empty()) page.next = page.jobs.back().number;
    }
    return page;
  });
}

std::map<JobState, JobTotal> JobStore::totals(const TenantId& tenant) {
  return in_read(*backend_, [&](Transaction& t) {
    const auto rows = t.db.query(
        "SELECT state, COUNT(*), CAST(SUM(work) AS BIGINT) FROM jobs WHERE tenant = $1 "
        "GROUP BY state",
        {tenant.text});
    std::map<JobState, JobTotal> totals;
    while (rows->next()) {
      totals[column::number<JobState>(*rows, 0)] = {
          .jobs = rows->integer(1), .work = VideoMinutes(column::duration(*rows, 2))};
    }
    return totals;
  });
}

std::vector<JobSegment> JobStore::segments(const JobId& id) {
  return in_read(*backend_, [&](Transaction& t) { return segments_of(t, id); });
}

std::vector<JobHistory> JobStore::history(const JobId& id, std::int64_t after) {
  return in_read(*backend_, [&](Transaction& t) { return history_of(t, id, after); });
}

// A crash of the machine may undo it: then no worker has the job, and the next epoch is above.
std::optional<Job> JobStore::claim(const std::string& worker, const ClaimOrder& order,
                                   std::optional<TimePoint> given, const std::string& why) {
  return in_write(*backend_, Durability::relaxed, [&](Transaction& t) -> std::optional<Job> {
    const TimePoint now = given.value_or(t.now);
    t.db.run("UPDATE jobs SET not_before = 0 WHERE not_before > 0 AND not_before <= $1",
             {column::of(now)});
    auto job = order(t);
    if (!job) return std::nullopt;
    job->epoch = epoch_above(job->epoch, t.generation);
    job->worker = worker;
    job->lease_until = now + rules_.lease;
    ++job->attempts;
    apply(t, *job, JobEvent::claim, {worker, why}, now);
    return job;
  });
}

bool JobStore::renew(const JobLease& lease, TimePoint now) {
  return renew(std::span(&lease, 1), now).front();
}

std::vector<bool> JobStore::renew(std::span<const JobLease> leases, TimePoint now) {
  return in_write(*backend_, Durability::relaxed, [&](Transaction& t) {
    std::map<JobId, std::uint64_t> epochs;
    {
      const auto rows = t.db.query("SELECT id, epoch FROM jobs WHERE state = 2", {});
      while (rows->next())
        epochs[{column::text(*rows, 0)}] = column::number<std::uint64_t>(*rows, 1);
    }
    std::vector<bool> held;
    for (const JobLease& lease : leases) {
      const auto running = epochs.find(lease.job);
      held.push_back(running != epochs.end() && running->second == lease.epoch);
      if (held.back()) {
        t.db.run("UPDATE jobs SET lease_until = $2 WHERE id = $1",
                 {lease.job.text, column::of(now + rules_.lease)});
      }
    }
    return held;
  });
}

bool JobStore::measure(const JobLease& lease, VideoMinutes work) {
  return in_write(*backend_, k_durable, [&](Transaction& t) {
    auto job = find_job(t, lease.job);
    if (!job || job->epoch != lease.epoch || job->state != JobState::running) return false;
    write_measured(t, *job, work);
    return true;
  });
}

// Only under the lease's own epoch; a report that came before is known by the state that it led to.
template <class Change>
Recorded JobStore::report(const JobLease& lease, JobState after, const Change& change) {
  return in_write(*backend_, k_durable, [&](Transaction& t) {
    auto job = find_job(t, lease.job);
    if (!job || job->epoch != lease.epoch) return Recorded::refused;
    if (job->state == JobState::running) return change(t, *job);
    return job->state == after ? Recorded::before : Recorded::refused;
  });
}

Recorded JobStore::finish_segment(const JobLease& lease, const JobSegment& segment, TimePoint now) {
  return report(lease, JobState::running, [&](Transaction& t, Job& job) {
    if (segment.index < job.segments) {
      // Its file was lost or damaged, and is there again, made by another worker perhaps.
      update_segment(t, job, segment);
      return Recorded::before;
    }
    if (segment.index > job.segments) {
      throw Error(Code::invalid, fmt::format("segment {} of job {} came before segment {}",
                                             segment.index, job.id.text, job.segments));
    }
    insert_segment(t, job, segment);
    ++job.segments;
    job.finished += segment.work;
    job.lease_until = now + rules_.lease;  // the loop has just worked
    apply(t, job, JobEvent::segment, {job.worker, fmt::format("segment {}", segment.index)}, now);
    return Recorded::now;
  });
}

Recorded JobStore::intend(const JobLease& lease, const std::string& result, TimePoint now) {
  return report(lease, JobState::running, [&](Transaction& t, Job& job) {
    job.result = result;
    job.lease_until = now + rules_.lease;
    apply(t, job, JobEvent::intend, {job.worker, "the result is about to appear"}, now);
    return Recorded::now;
  });
}

Recorded JobStore::finish(const JobLease& lease, const std::string& result, TimePoint now) {
  return report(lease, JobState::done, [&](Transaction& t, Job& job) {
    job.result = result;
    end_attempt(job, "");
    apply(t, job, JobEvent::finish, {job.worker, "finished"}, now);
    return Recorded::now;
  });
}

Recorded JobStore::refuse(const JobLease& lease, const std::string& why, TimePoint now) {
  return report(lease, JobState::failed, [&](Transaction& t, Job& job) {
    end_attempt(job, why);
    apply(t, job, JobEvent::refuse, {job.worker, why}, now);
    return Recorded::now;
  });
}

Recorded JobStore::fail(const JobLease& lease, const std::string& why, TimePoint now) {
  return report(lease, JobState::dead, [&](Transaction& t, Job& job) {
    end_failed_attempt(t, job, why);
    const bool again = may_retry(rules_, job.attempts);
    if (again) job.not_before = now + retry_delay(rules_, job.attempts);
    apply(t, job, again ? JobEvent::retry : JobEvent::exhaust, {job.worker, why}, now);
    return Recorded::now;
  });
}

Recorded JobStore::give_back(const JobLease& lease, const std::string& why, TimePoint now,
                             Duration delay) {
  return report(lease, JobState::released, [&](Transaction& t, Job& job) {
    job.lease_until = {};
    if (delay > Duration{}) {
      job.not_before = now + delay;
      job.error = why;
    }
    --job.attempts;
    apply(t, job, JobEvent::yield, {job.worker, why}, now);
    return Recorded::now;
  });
}

Recorded JobStore::yield(const JobLease& lease, const std::string& why, TimePoint now) {
  return give_back(lease, why, now, {});
}

Recorded JobStore::yield_for_later(const JobLease& lease, const std::string& why, TimePoint now,
                                   Duration pause) {
  return give_back(lease, why, now, pause);
}

// Nothing says that the job is to blame: the whole process ended, or did not renew. But one that kills its gateway does not do
// so for ever.
void JobStore::lose(Transaction& t, Job& job, const Cause& cause, TimePoint now) const {
  const int losses = losses_since_segment(t, job) + 1;
  const bool again = losses < rules_.most_losses;
  const std::string why =
      again ? cause.why : fmt::format("{}, {} times without a finished segment", cause.why, losses);
  --job.attempts;
  end_attempt(job, why);
  if (const Duration delay = delay_after_loss(rules_, losses); again && delay > Duration{})
    job.not_before = now + delay;
  apply(t, job, again ? JobEvent::lose : JobEvent::exhaust, {cause.who, why}, now);
}

std::vector<Job> JobStore::requeue_expired(const Cause& cause, TimePoint now,
                                           const std::set<JobId>& kept) {
  constexpr const char* k_expired = "WHERE state = 2 AND lease_until <= $1";
  const DbValue values[] = {column::of(now)};
  const auto select = [&](Transaction& t) {
    std::vector<Job> jobs = select_jobs(t, k_expired, values);
    std::erase_if(jobs, [&](const Job& job) { return kept.contains(job.id); });
    return jobs;
  };
  // Usually there is none; then no writer is delayed.
  if (in_read(*backend_, select).empty()) return {};
  return in_write(*backend_, k_durable, [&](Transaction& t) {
    std::vector<Job> jobs = select(t);
    for (Job& job : jobs) lose(t, job, cause, now);
    return jobs;
  });
}

std::vector<Job> JobStore::requeue_of(const std::string& worker, const Cause& cause,
                                      TimePoint now) {
  return in_write(*backend_, k_durable, [&](Transaction& t) {
    const DbValue values[] = {worker};
    std::vector<Job> jobs = select_jobs(t, "WHERE state = 2 AND worker = $1", values);
    for (Job& job : jobs) lose(t, job, cause, now);
    return jobs;
  });
}

std::vector<JobId> JobStore::over_since(TimePoint before, std::size_t most) {
  const DbValue values[] = {column::of(before), column::of(most)};
  return in_read(*backend_, [&](Transaction& t) {
    std::vector<JobId> over;
    for (const Job& job : select_jobs(
             t,
             "WHERE state >= 3 AND changed_at < $1 AND NOT EXISTS (SELECT 1 FROM job_notices n "
             "WHERE n.job = jobs.number) ORDER BY changed_at LIMIT $2",
             values))
      over.push_back(job.id);
    return over;
  });
}

void JobStore::forget(std::span<const JobId> jobs) {
  if (jobs.empty()) return;
  in_write(*backend_, Durability::relaxed, [&](Transaction& t) {
    for (const JobId& id : jobs) {
      const auto job = find_job(t, id);
      if (job && is_final(job->state)) delete_job(t, job->number);
    }
  });
}

bool JobStore::has_claimable(TimePoint now) {
  return in_read(*backend_, [&](Transaction& t) { return any_claimable(t, now); });
}

std::vector<JobId> JobStore::unknown_of(std::span<const JobId> ids) {
  return in_read(*backend_, [&](Transaction& t) {
    std::vector<JobId> unknown;
    for (const JobId& id : ids) {
      const auto rows = t.db.query("SELECT 1 FROM jobs WHERE id = $1", {id.text});
      if (!rows->next()) unknown.push_back(id);
    }
    return unknown;
  });
}

std::set<std::string> JobStore::audio_in_use() {
  return in_read(*backend_, [](Transaction& t) {
    const auto rows =
        t.db.query("SELECT DISTINCT audio FROM jobs WHERE state < 3 AND audio <> ''", {});
    std::set<std::string> names;
    while (rows->next()) names.insert(column::text(*rows, 0));
    return names;
  });
}

std::vector<std::string> JobStore::workers() {
  return in_read(*backend_, [](Transaction& t) {
    const auto rows = t.db.query("SELECT DISTINCT worker FROM jobs WHERE state = 2", {});
    std::vector<std::string> workers;
    while (rows->next()) workers.push_back(column::text(*rows, 0));
    return workers;
  });
}

}  // namespace navtalk
