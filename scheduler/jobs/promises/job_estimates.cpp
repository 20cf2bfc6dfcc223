#include "scheduler/jobs/promises/job_estimates.h"

#include <algorithm>

#include "scheduler/jobs/job_store.h"
#include "scheduler/jobs/job_table.h"
#include "scheduler/jobs/promises/finish_estimate.h"
#include "scheduler/jobs/shares/division.h"
#include "scheduler/store/columns.h"

namespace navtalk {
namespace {

// Two ranges of the index, because one with OR reads the whole queue.
JobTotal queued_ahead(Transaction& t, const Job& job) {
  const auto rows = t.db.query(
      "SELECT COUNT(*), CAST(COALESCE(SUM(work), 0) AS BIGINT) FROM (SELECT work FROM jobs WHERE "
      "tenant = $1 AND state = 0 AND priority = $2 AND number < $3 UNION ALL SELECT work FROM jobs "
      "WHERE tenant = $1 AND state = 0 AND priority > $2) ahead",
      {job.spec.tenant.text, column::of(job.spec.priority), job.number});
  if (!rows->next()) return {};
  return {.jobs = rows->integer(0), .work = VideoMinutes(column::duration(*rows, 1))};
}

// The job itself included. Two ranges, too.
JobTotal queued_from(Transaction& t, const Job& job) {
  const auto rows = t.db.query(
      "SELECT COUNT(*), CAST(COALESCE(SUM(work), 0) AS BIGINT) FROM (SELECT work FROM jobs WHERE "
      "tenant = $1 AND state = 0 AND priority = $2 AND number >= $3 UNION ALL SELECT work FROM "
      "jobs "
      "WHERE tenant = $1 AND state = 0 AND priority < $2) behind",
      {job.spec.tenant.text, column::of(job.spec.priority), job.number});
  if (!rows->next()) return {};
  return {.jobs = rows->integer(0), .work = VideoMinutes(column::duration(*rows, 1))};
}

// Released before it, whoever released it: a job that has waited for a minute is claimed by its time.
JobTotal released_before(Transaction& t, const Job& job) {
  const auto rows = t.db.query(
      "SELECT COUNT(*), CAST(COALESCE(SUM(work - finished), 0) AS BIGINT) FROM jobs WHERE state = "
      "1 AND "
      "not_before = 0 AND (changed_at < $1 OR (changed_at = $1 AND number < $2))",
      {column::of(job.changed_at), job.number});
  if (!rows->next()) return {};
  return {.jobs = rows->integer(0), .work = VideoMinutes(column::duration(*rows, 1))};
}

// Of its tenant, in the order of claims.
std::int64_t released_ahead(Transaction& t, const Job& job) {
  if (job.state != JobState::released) {
    const auto rows = t.db.query("SELECT jobs FROM job_totals WHERE tenant = $1 AND state = 1",
                                 {job.spec.tenant.text});
    return rows->next() ? rows->integer(0) : 0;
  }
  const auto rows = t.db.query(
      "SELECT COUNT(*) FROM jobs WHERE tenant = $1 AND state = 1 AND (priority > $2 OR (priority = "
      "$2 AND number < $3))",
      {job.spec.tenant.text, column::of(job.spec.priority), job.number});
  return rows->next() ? rows->integer(0) : 0;
}

JobTotal ahead_of(Transaction& t, const TenantLine& line, const Job& job, CountFrom from) {
  if (from == CountFrom::front) return queued_ahead(t, job);
  const JobTotal behind = queued_from(t, job);
  return {.jobs = std::max<std::int64_t>(line.queued_jobs - behind.jobs, 0),
          .work = std::max(line.queued - behind.work, VideoMinutes{})};
}

LaneBacklog lane_before(const Division& division, const TenantId& tenant, TimePoint now) {
  LaneBacklog lane = backlog_of(division.lines, tenant, division.expected_capacity());
  lane.supply = division.supply;
  lane.next = until_next(lane.supply, now);
  return lane;
}

double correction_of(const Division& division) {
  return division.taught() ? division.correction
                           : std::max(division.correction, k_prior_correction);
}

// `released` of the tenant's stand before those that are ahead.
std::optional<JobEstimate> answer(const FinishQuestion& question, std::int64_t released,
                                  TimePoint now) {
  const auto finish = estimate_finish(question);
  if (!finish) return std::nullopt;
  return JobEstimate{.expected = finish->expected,
                     .eta = finish->p90,
                     .promise = now + finish->p90,
                     .position = released + question.jobs_ahead + 1,
                     .cause = finish->cause};
}

// What is left of a job that somebody renders, as long as reports say nothing newer. Who has finished a segment
// of it since the claim has nothing to prepare any more.
// Who has none of several segments finished in the time of two is late.
LeftToRender left_of(Transaction& t, const Job& job, const BatchCapacity& capacity, TimePoint now) {
  LeftToRender left{.work = std::max(job.work - job.finished, VideoMinutes{}),
                    .overhead = capacity.overhead};
  if (job.state != JobState::running) return left;
  VideoMinutes reported = left.work;
  if (job.segments > 0) {
    reported = VideoMinutes(2 * job.finished.audio() / job.segments);
    if (segment_since_claim(t, job)) left.overhead = 0;
  }
  return left_to_render(left, reported, capacity.rate_of_frames(), now - job.changed_at);
}

}  // namespace

std::vector<std::optional<JobEstimate>> estimate(TenantStore& store, const TenantId& tenant,
                                                 std::span<const VideoMinutes> works) {
  const TimePoint now = store.now();
  Division division = store.division();
  const TenantLine& line = division.line_of(tenant, store.terms_of(tenant));
  const BatchCapacity capacity = division.expected_capacity();
  FinishQuestion question{.ahead = line.queued,
                          .jobs_ahead = line.queued_jobs,
                          .bucket = line.bucket.minutes,
                          .share = assured_share(division, tenant),
                          .rate = capacity.rate_of_frames(),
                          .overhead = capacity.overhead,
                          .lane = lane_before(division, tenant, now),
                          .correction = correction_of(division)};
  std::vector<std::optional<JobEstimate>> estimates;
  estimates.reserve(works.size());
  for (const VideoMinutes work : works) {
    question.work = work;
    estimates.push_back(answer(question, line.released_jobs, now));
    question.ahead += work;
    ++question.jobs_ahead;
  }
  return estimates;
}

std::optional<JobEstimate> estimate(TenantStore& store, const TenantId& tenant, VideoMinutes work) {
  return estimate(store, tenant, std::span(&work, 1)).front();
}

std::optional<JobEstimate> estimate_in(Transaction& transaction, const Division& division,
                                       const Job& job, CountFrom from, TimePoint now) {
  if (is_final(job.state)) return std::nullopt;
  const BatchCapacity capacity = division.expected_capacity();
  const LeftToRender left = left_of(transaction, job, capacity, now);
  FinishQuestion question{.work = left.work,
                          .rate = capacity.rate_of_frames(),
                          .overhead = left.overhead,
                          .released = job.state != JobState::queued,
                          .lane = job.state == JobState::running
                                      ? LaneBacklog{}
                                      : lane_before(division, job.spec.tenant, now),
                          .correction = correction_of(division)};
  if (job.not_before > now) question.start_wait = job.not_before - now;
  if (job.state == JobState::released) {
    const JobTotal before = released_before(transaction, job);
    question.lane.released = std::min(before.work, question.lane.released);
    question.lane.released_jobs = std::min(before.jobs, question.lane.released_jobs);
  }
  const auto line =
      std::find_if(division.lines.begin(), division.lines.end(),
                   [&](const TenantLine& one) { return one.tenant == job.spec.tenant; });
  if (!question.released && line != division.lines.end()) {
    const JobTotal ahead = ahead_of(transaction, *line, job, from);
    question.ahead = ahead.work;
    question.jobs_ahead = ahead.jobs;
    question.bucket = line->bucket.minutes;
    question.share = assured_share(division, job.spec.tenant);
  }
  const bool waits = job.state != JobState::running;
  return answer(question, waits ? released_ahead(transaction, job) : 0, now);
}

std::int64_t waiting_before(Transaction& transaction, const Job& job) {
  const bool queued = job.state == JobState::queued;
  return released_ahead(transaction, job) + (queued ? queued_ahead(transaction, job).jobs : 0);
}

}  // namespace navtalk
