#include "scheduler/jobs/job_table.h"

#include <utility>

#include "core/base/check.h"
#include "scheduler/jobs/notices/job_notices.h"
#include "scheduler/jobs/shares/charges.h"
#include "scheduler/store/columns.h"

namespace navtalk {
namespace {

#define NAVTALK_JOB_COLUMNS_WITH(text)                                                          \
  "number, id, tenant, avatar, audio, " text                                                    \
  ", voice, output, options, priority, work, estimated, key, submitted_at, state, changed_at, " \
  "not_before, attempts, epoch, worker, lease_until, segments, finished, result, error, "       \
  "webhook, request, charged, placed"
#define NAVTALK_JOB_COLUMNS NAVTALK_JOB_COLUMNS_WITH("text")

VideoMinutes video_minutes(DbRows& rows, int at) {
  return VideoMinutes(column::duration(rows, at));
}

Job read_job(DbRows& rows) {
  return {.number = rows.integer(0),
          .id = {column::text(rows, 1)},
          .spec = {.tenant = {column::text(rows, 2)},
                   .avatar = column::text(rows, 3),
                   .audio = column::text(rows, 4),
                   .text = column::text(rows, 5),
                   .voice = column::text(rows, 6),
                   .output = column::text(rows, 7),
                   .options = column::text(rows, 8),
                   .priority = column::number<int>(rows, 9),
                   .webhook = column::text(rows, 25)},
          .work = video_minutes(rows, 10),
          .estimated = rows.integer(11) != 0,
          .key = column::text(rows, 12),
          .request = column::text(rows, 26),
          .submitted_at = column::time(rows, 13),
          .state = column::number<JobState>(rows, 14),
          .changed_at = column::time(rows, 15),
          .not_before = column::time(rows, 16),
          .attempts = column::number<int>(rows, 17),
          .epoch = column::number<std::uint64_t>(rows, 18),
          .worker = column::text(rows, 19),
          .lease_until = column::time(rows, 20),
          .segments = column::number<int>(rows, 21),
          .finished = video_minutes(rows, 22),
          .charged = video_minutes(rows, 27),
          .placed = video_minutes(rows, 28),
          .result = column::text(rows, 23),
          .error = column::text(rows, 24)};
}

std::optional<Job> only_job(DbRows& rows) {
  return rows.next() ? std::optional(read_job(rows)) : std::nullopt;
}

}  // namespace

void insert_event(Transaction& transaction, const Job& job, JobEvent event, const Cause& cause) {
  transaction.db.run(
      "INSERT INTO job_events (at, job, event, to_state, who, why) VALUES ($1, $2, $3, $4, $5, $6)",
      {column::of(transaction.wall), job.number, column::of(event), column::of(job.state),
       cause.who, cause.why});
  insert_notice(transaction, job, event, cause.why);
}

std::optional<Job> find_job(Transaction& transaction, const JobId& id) {
  return only_job(
      *transaction.db.query("SELECT " NAVTALK_JOB_COLUMNS " FROM jobs WHERE id = $1", {id.text}));
}

std::optional<Job> find_job(Transaction& transaction, std::int64_t number) {
  return only_job(*transaction.db.query(
      "SELECT " NAVTALK_JOB_COLUMNS " FROM jobs WHERE number = $1", {number}));
}

std::optional<Job> find_job(Transaction& transaction, const TenantId& tenant,
                            const std::string& key) {
  return only_job(*transaction.db.query("SELECT " NAVTALK_JOB_COLUMNS
                                        " FROM jobs WHERE tenant = $1 AND key = $2 AND key <> ''",
                                        {tenant.text, key}));
}

std::vector<Job> select_jobs(Transaction& transaction, const std::string& rest, DbValues values,
                             JobTexts texts) {
  const std::string columns =
      texts == JobTexts::whole ? NAVTALK_JOB_COLUMNS : NAVTALK_JOB_COLUMNS_WITH("''");
  const auto rows = transaction.db.query("SELECT " + columns + " FROM jobs " + rest, values);
  std::vector<Job> jobs;
  while (rows->next()) jobs.push_back(read_job(*rows));
  return jobs;
}

std::optional<Job> first_job(Transaction& transaction, const std::string& rest, DbValues values) {
  std::vector<Job> jobs = select_jobs(transaction, rest, values);
  return jobs.empty() ? std::nullopt : std::optional(std::move(jobs.front()));
}

Job insert_job(Transaction& transaction, const NewJob& job, const Cause& cause, TimePoint now) {
  const JobId id{random_id()};
  const JobSpec& spec = job.spec;
  {
    const auto rows = transaction.db.query(
        "INSERT INTO jobs (id, tenant, avatar, audio, text, voice, output, options, priority, "
        "work, estimated, key, submitted_at, state, changed_at, not_before, attempts, epoch, "
        "worker, lease_until, segments, finished, result, error, webhook, request) VALUES ($1, $2, "
        "$3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, 0, $13, 0, 0, 0, '', 0, 0, 0, '', '', "
        "$14, "
        "$15) "
        "RETURNING number",
        {id.text, spec.tenant.text, spec.avatar, spec.audio, spec.text, spec.voice, spec.output,
         spec.options, column::of(spec.priority), column::of(job.work.audio()),
         column::of(job.estimated), job.key, column::of(now), spec.webhook, job.request});
    while (rows->next()) {
    }
  }
  const Job made = *find_job(transaction, id);
  insert_event(transaction, made, JobEvent::submit, cause);
  transaction.notify = true;
  return made;
}

void apply(Transaction& transaction, Job& job, JobEvent event, const Cause& cause, TimePoint now) {
  const auto state = next(job.state, event);
  NAVTALK_CHECK(state);
  job.state = *state;
  job.changed_at = now;
  settle_end(transaction, job, event);
  transaction.db.run(
      "UPDATE jobs SET state = $2, changed_at = $3, not_before = $4, attempts = $5, epoch = $6, "
      "worker = $7, lease_until = $8, segments = $9, finished = $10, result = $11, error = $12, "
      "charged = $13, placed = $14 WHERE number = $1",
      {job.number, column::of(job.state), column::of(job.changed_at), column::of(job.not_before),
       column::of(job.attempts), column::of(job.epoch), job.worker, column::of(job.lease_until),
       column::of(job.segments), column::of(job.finished.audio()), job.result, job.error,
       column::of(job.charged.audio()), column::of(job.placed.audio())});
  insert_event(transaction, job, event, cause);
  transaction.notify = true;
}

void write_measured(Transaction& transaction, Job& job, VideoMinutes work) {
  settle_measured(transaction, job, work);
  job.estimated = false;
  transaction.db.run(
      "UPDATE jobs SET work = $2, estimated = 0, charged = $3, placed = $4 WHERE number = $1",
      {job.number, column::of(job.work.audio()), column::of(job.charged.audio()),
       column::of(job.placed.audio())});
}

void delete_job(Transaction& transaction, std::int64_t number) {
  for (const char* table : {"job_segments", "job_promises", "job_notices"}) {
    transaction.db.run("DELETE FROM " + std::string(table) + " WHERE job = $1", {number});
  }
  // The newest event stays: SQLite would give its number to the next one, behind the place up to which the
  // lane has read (LaneRow::seen_event).
  transaction.db.run(
      "DELETE FROM job_events WHERE job = $1 AND number < (SELECT MAX(number) FROM job_events)",
      {number});
  transaction.db.run("DELETE FROM jobs WHERE number = $1", {number});
}

bool any_claimable(Transaction& transaction, TimePoint now) {
  const auto rows = transaction.db.query(
      "SELECT 1 FROM jobs WHERE state = 1 AND not_before = 0 UNION ALL "
      "SELECT 1 FROM jobs WHERE not_before > 0 AND not_before <= $1 AND state = 1 LIMIT 1",
      {column::of(now)});
  return rows->next();
}

bool any_delay_over(Transaction& transaction, TimePoint now) {
  const auto rows = transaction.db.query(
      "SELECT 1 FROM jobs WHERE not_before > 0 AND not_before <= $1 AND state = 1 LIMIT 1",
      {column::of(now)});
  return rows->next();
}

void insert_segment(Transaction& transaction, const Job& job, const JobSegment& segment) {
  transaction.db.run(
      "INSERT INTO job_segments (job, part, work, result) VALUES ($1, $2, $3, $4)",
      {job.number, column::of(segment.index), column::of(segment.work.audio()), segment.result});
}

void update_segment(Transaction& transaction, const Job& job, const JobSegment& segment) {
  transaction.db.run(
      "UPDATE job_segments SET result = $3 WHERE job = $1 AND part = $2 AND result <> $3",
      {job.number, column::of(segment.index), segment.result});
}

bool segment_since_claim(Transaction& transaction, const Job& job) {
  const auto rows = transaction.db.query(
      "SELECT 1 FROM job_events WHERE job = $1 AND event = $2 AND number > (SELECT "
      "COALESCE(MAX(number), 0) FROM job_events WHERE job = $1 AND event = $3) LIMIT 1",
      {job.number, column::of(JobEvent::segment), column::of(JobEvent::claim)});
  bool any = false;
  while (rows->next()) any = true;
  return any;
}

int losses_since_segment(Transaction& transaction, const Job& job) {
  const auto rows = transaction.db.query(
      "SELECT COUNT(*) FROM job_events WHERE job = $1 AND event = $2 AND number > (SELECT "
      "COALESCE(MAX(number), 0) FROM job_events WHERE job = $1 AND event IN ($3, $4))",
      {job.number, column::of(JobEvent::lose), column::of(JobEvent::segment),
       column::of(JobEvent::resubmit)});
  int losses = 0;
  while (rows->next()) losses = column::number<int>(*rows, 0);
  return losses;
}

std::vector<JobSegment> segments_of(Transaction& transaction, const JobId& id) {
  const auto rows = transaction.db.query(
      "SELECT part, work, result FROM job_segments WHERE job = (SELECT number FROM jobs WHERE id = "
      "$1) ORDER BY part",
      {id.text});
  std::vector<JobSegment> segments;
  while (rows->next()) {
    segments.push_back({.index = column::number<int>(*rows, 0),
                        .work = video_minutes(*rows, 1),
                        .result = column::text(*rows, 2)});
  }
  return segments;
}

std::vector<JobHistory> history_of(Transaction& transaction, const JobId& id, std::int64_t after) {
  const auto rows = transaction.db.query(
      "SELECT number, at, event, to_state, who, why FROM job_events WHERE job = (SELECT number "
      "FROM jobs WHERE id = $1) AND number > $2 ORDER BY number",
      {id.text, column::of(after)});
  std::vector<JobHistory> history;
  while (rows->next()) {
    history.push_back({.number = rows->integer(0),
                       .at = column::time(*rows, 1),
                       .job = id,
                       .event = column::number<JobEvent>(*rows, 2),
                       .to = column::number<JobState>(*rows, 3),
                       .who = column::text(*rows, 4),
                       .why = column::text(*rows, 5)});
  }
  return history;
}

}  // namespace navtalk
