#include "scheduler/jobs/shares/share_tables.h"

#include <map>

#include "scheduler/jobs/job_state.h"
#include "scheduler/store/columns.h"

namespace navtalk {
namespace {

#define NAVTALK_TERMS_COLUMNS "tenant, plan, weight, max_rate, max_queued, max_running"

TenantTerms read_terms(DbRows& rows) {
  return {.plan = column::number<int>(rows, 1),
          .weight = rows.real(2),
          .max_rate = rows.real(3),
          .max_queued = VideoMinutes(column::duration(rows, 4)),
          .max_running = column::number<int>(rows, 5)};
}

void add_total(TenantLine& line, JobState state, std::int64_t jobs, VideoMinutes work) {
  if (state == JobState::queued) {
    line.queued = work;
    line.queued_jobs = jobs;
  } else if (state == JobState::released) {
    line.released = work;
    line.released_jobs = jobs;
  } else if (state == JobState::running) {
    line.running = work;
    line.running_jobs = jobs;
  }
}

}  // namespace

std::optional<TenantTerms> find_terms(Transaction& transaction, const TenantId& tenant) {
  const auto rows = transaction.db.query(
      "SELECT " NAVTALK_TERMS_COLUMNS " FROM tenants WHERE tenant = $1", {tenant.text});
  return rows->next() ? std::optional(read_terms(*rows)) : std::nullopt;
}

TenantTermsTable all_terms(Transaction& transaction) {
  const auto rows = transaction.db.query("SELECT " NAVTALK_TERMS_COLUMNS " FROM tenants", {});
  TenantTermsTable table;
  while (rows->next()) table[{column::text(*rows, 0)}] = read_terms(*rows);
  return table;
}

void write_terms(Transaction& transaction, const TenantId& tenant, const TenantTerms& terms) {
  transaction.db.run("INSERT INTO tenants (" NAVTALK_TERMS_COLUMNS
                     ", changed_at) VALUES ($1, $2, $3, $4, $5, $6, $7) "
                     "ON CONFLICT (tenant) DO UPDATE SET plan = $2, weight = $3, max_rate = $4, "
                     "max_queued = $5, max_running = $6, changed_at = $7",
                     {tenant.text, column::of(terms.plan), terms.weight, terms.max_rate,
                      column::of(terms.max_queued.audio()), column::of(terms.max_running),
                      column::of(transaction.now)});
  transaction.notify = true;
}

LaneRow read_lane(Transaction& transaction) {
  const auto rows = transaction.db.query(
      "SELECT gpus, rate, rates, seen_event, seen_promise, divided_at, render_rate, overhead, "
      "overheads, told, recent_budget, headroom_tenant, headroom_running, headroom_until FROM "
      "job_lane WHERE id = 1",
      {});
  if (!rows->next()) return {};
  return {.gpus = rows->real(0),
          .pace = {.rate = rows->real(1),
                   .measured = VideoMinutes(column::duration(*rows, 2)),
                   .told = VideoMinutes(column::duration(*rows, 9)),
                   .render_rate = rows->real(6),
                   .overhead = column::duration(*rows, 7),
                   .overheads = column::number<int>(*rows, 8)},
          .seen_event = rows->integer(3),
          .seen_promise = rows->integer(4),
          .divided_at = column::time(*rows, 5),
          .recent_budget = rows->real(10),
          .headroom = {.tenant = {column::text(*rows, 11)},
                       .most_running = rows->integer(12),
                       .until = column::time(*rows, 13)}};
}

void write_lane(Transaction& transaction, const LaneRow& lane) {
  transaction.db.run(
      "UPDATE job_lane SET gpus = $1, rate = $2, rates = $3, seen_event = $4, seen_promise "
      "= $5, divided_at = $6, render_rate = $7, overhead = $8, overheads = $9, told = $10, "
      "recent_budget = $11, headroom_tenant = $12, headroom_running = $13, headroom_until = $14 "
      "WHERE id = 1",
      {lane.gpus, lane.pace.rate, column::of(lane.pace.measured.audio()), lane.seen_event,
       lane.seen_promise, column::of(lane.divided_at), lane.pace.render_rate,
       column::of(lane.pace.overhead), column::of(lane.pace.overheads),
       column::of(lane.pace.told.audio()), lane.recent_budget, lane.headroom.tenant.text,
       lane.headroom.most_running, column::of(lane.headroom.until)});
}

BatchCapacity capacity_of(const LaneRow& lane, std::span<const TenantLine> lines) {
  VideoMinutes work;
  std::int64_t jobs = 0;
  for (const TenantLine& line : lines) {
    work += line.queued + line.released + line.running;
    jobs += line.queued_jobs + line.released_jobs + line.running_jobs;
  }
  const BatchCapacity learnt{.gpus = lane.gpus,
                             .rate = lane.pace.rate,
                             .render_rate = lane.pace.expected_render_rate(),
                             .overhead = lane.pace.expected_overhead(),
                             .measured = lane.pace.measured};
  return learnt.with_jobs(jobs, work);
}

std::vector<TenantLine> read_lines(Transaction& transaction) {
  std::map<TenantId, TenantLine> lines;
  {
    const auto rows = transaction.db.query(
        "SELECT tenant, demand, period_at, samples, sample_sum, sample_squares, share, bucket, "
        "refilled_at, started, finished, recent_slots, recent_waiting, submitted_at FROM "
        "job_shares",
        {});
    while (rows->next()) {
      TenantLine& line = lines[{column::text(*rows, 0)}];
      line.demand = {.smoothed = rows->real(1),
                     .period_at = column::time(*rows, 2),
                     .samples = column::number<int>(*rows, 3),
                     .sum = rows->real(4),
                     .squares = rows->real(5)};
      line.share = rows->real(6);
      line.bucket = {.minutes = rows->real(7), .at = column::time(*rows, 8)};
      line.place = {.started = rows->real(9), .finished = rows->real(10)};
      line.history = {.slots = rows->real(11)};
      line.waits = {.jobs = rows->real(12)};
      line.submitted_at = column::time(*rows, 13);
    }
  }
  const auto rows = transaction.db.query(
      "SELECT tenant, state, jobs, work FROM job_totals WHERE state <= 2 AND jobs > 0", {});
  while (rows->next()) {
    add_total(lines[{column::text(*rows, 0)}], column::number<JobState>(*rows, 1), rows->integer(2),
              VideoMinutes(column::duration(*rows, 3)));
  }
  std::vector<TenantLine> all;
  for (auto& [tenant, line] : lines) {
    line.tenant = tenant;
    all.push_back(line);
  }
  return all;
}

void write_line(Transaction& transaction, const TenantLine& line) {
  const DemandEnvelope& demand = line.demand;
  transaction.db.run(
      "INSERT INTO job_shares (tenant, plan, demand, period_at, samples, sample_sum, "
      "sample_squares, share, bucket, refilled_at, started, finished, weight, recent_slots, "
      "recent_waiting, submitted_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 0, 0, $11, "
      "$12, $13, $14) ON CONFLICT (tenant) DO UPDATE SET plan = $2, demand = $3, period_at = $4, "
      "samples = $5, sample_sum = $6, sample_squares = $7, share = $8, bucket = $9, refilled_at = "
      "$10, weight = $11, recent_slots = $12, recent_waiting = $13, submitted_at = $14",
      {line.tenant.text, column::of(line.terms.plan), demand.smoothed, column::of(demand.period_at),
       column::of(demand.samples), demand.sum, demand.squares, line.share, line.bucket.minutes,
       column::of(line.bucket.at), line.terms.weight, line.history.slots, line.waits.jobs,
       column::of(line.submitted_at)});
}

void write_place(Transaction& transaction, const TenantLine& line) {
  transaction.db.run(
      "INSERT INTO job_shares (tenant, plan, demand, period_at, samples, sample_sum, "
      "sample_squares, share, bucket, refilled_at, started, finished, weight) VALUES ($1, $2, 0, "
      "0, "
      "0, 0, 0, 0, 0, 0, $3, $4, $5) ON CONFLICT (tenant) DO UPDATE SET plan = $2, started = $3, "
      "finished = $4, weight = $5",
      {line.tenant.text, column::of(line.terms.plan), line.place.started, line.place.finished,
       line.terms.weight});
}

}  // namespace navtalk
