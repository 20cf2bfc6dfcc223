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

JobTotal ahead_of(Transaction& t, const TenantLine& line, const Job& job, CountFrom from) {
  if (from == CountFrom::front) return queued_ahead(t, job);
  const JobTotal behind = queued_from(t, job);
  return {.jobs = std::max<std::int64_t>(line.queued_jobs - behind.jobs, 0),
          .work = std::max(line.queued - behind.work, VideoMinutes{})};
}

LaneBacklog lane_before(const Division& division, const TenantId& tenant, TimePoint now) {
  LaneBacklog lane = backlog_of(division.lines, tenant, division.capacity);
  lane.supply = division.supply;
  lane.next = until_next(lane.supply, now);
  return lane;
}

std::optional<JobEstimate> answer(const FinishQuestion& question, TimePoint now) {
  const auto finish = estimate_finish(question);
  if (!finish) return std::nullopt;
  return JobEstimate{.expected = finish->expected,
                     .eta = finish->p90,
                     .promise = now + finish->p90,
                     .position = question.jobs_ahead + 1};
}

// What is left of a job that somebody renders, as long as reports say nothing newer. Who has finished a segment
// of it since the claim has nothing to prepare any more.
struct Left {
  VideoMinutes work{};
  double overhead = 0;  // minutes
};
Left left_of(Transaction& t, const Job& job, const BatchCapacity& capacity, TimePoint now) {
  Left left{.work = job.work - job.finished, .overhead = capacity.overhead};
  if (job.state == JobState::running) {
    const double passed = std::max(0.0, in_seconds(now - job.changed_at) / 60);
    if (job.segments > 0 && segment_since_claim(t, job)) left.overhead = 0;
    const double rendering = std::max(0.0, passed - left.overhead);
    left.overhead = std::max(0.0, left.overhead - passed);
    left.work = left.work - VideoMinutes(from_seconds(60 * rendering * capacity.rate_of_frames()));
  }
  left.work = std::max(left.work, VideoMinutes{});
  return left;
}

}  // namespace

std::vector<std::optional<JobEstimate>> estimate(TenantStore& store, const TenantId& tenant,
                                                 std::span<const VideoMinutes> works) {
  const TimePoint now = store.now();
  Division division = store.division();
  const TenantLine& line = division.line_of(tenant, store.terms_of(tenant));
  FinishQuestion question{.ahead = line.queued,
                          .jobs_ahead = line.queued_jobs,
                          .bucket = line.bucket.minutes,
                          .share = assured_share(division, tenant),
                          .rate = division.capacity.rate_of_frames(),
                          .overhead = division.capacity.overhead,
                          .lane = lane_before(division, tenant, now),
                          .correction = division.correction};
  std::vector<std::optional<JobEstimate>> estimates;
  estimates.reserve(works.size());
  for (const VideoMinutes work : works) {
    question.work = work;
    estimates.push_back(answer(question, now));
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
  const Left left = left_of(transaction, job, division.capacity, now);
  FinishQuestion question{.work = left.work,
                          .rate = division.capacity.rate_of_frames(),
                          .overhead = left.overhead,
                          .released = job.state != JobState::queued,
                          .lane = job.state == JobState::running
                                      ? LaneBacklog{}
                                      : lane_before(division, job.spec.tenant, now),
                          .correction = division.correction};
  if (job.not_before > now) question.start_wait = job.not_before - now;
  if (job.state == JobState::released) {
    const JobTotal before = released_before(transaction, job);
    question.lane.released = before.work;
    question.lane.released_jobs = before.jobs;
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
  return answer(question, now);
}

}  // namespace navtalk
