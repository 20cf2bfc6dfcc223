#include "scheduler/jobs/promises/promise_table.h"

#include <algorithm>

#include "core/text/number.h"
#include "scheduler/forecast/eta_correction.h"
#include "scheduler/store/columns.h"

namespace navtalk {
namespace {

constexpr int k_promises_learnt_from = 200;
// The setting of the pool (scheduler/pool/settings.h) that has the number for jobs_to_promise().
constexpr std::string_view k_promised_to = "offline.promised";

#define NAVTALK_PROMISE_COLUMNS "job, made_at, first_at, promised_at, changes, finished_at"

// Of a dropped promise `finished_at` is the epoch.
JobPromise read_promise(DbRows& rows) {
  JobPromise promise{.job = rows.integer(0),
                     .made_at = column::time(rows, 1),
                     .first_at = column::time(rows, 2),
                     .promised_at = column::time(rows, 3),
                     .changes = column::number<int>(rows, 4),
                     .finished_at = column::maybe<TimePoint>(rows, 5)};
  promise.dropped = promise.finished_at == TimePoint{};
  if (promise.dropped) promise.finished_at.reset();
  return promise;
}

std::vector<JobPromise> select_promises(Transaction& transaction, const std::string& rest,
                                        std::int64_t from, std::size_t most) {
  const auto rows = transaction.db.query(
      "SELECT " NAVTALK_PROMISE_COLUMNS " FROM job_promises " + rest, {from, column::of(most)});
  std::vector<JobPromise> promises;
  while (rows->next()) promises.push_back(read_promise(*rows));
  return promises;
}

}  // namespace

std::optional<JobPromise> find_promise(Transaction& transaction, std::int64_t job) {
  const auto found = select_promises(transaction, "WHERE job = $1 LIMIT $2", job, 1);
  return found.empty() ? std::nullopt : std::optional(found.front());
}

void insert_promise(Transaction& transaction, std::int64_t job, TimePoint made_at, TimePoint at) {
  transaction.db.run(
      "INSERT INTO job_promises (job, made_at, first_at, promised_at, changes) VALUES ($1, $2, $3, "
      "$3, 0) ON CONFLICT (job) DO UPDATE SET made_at = $2, first_at = $3, promised_at = $3, "
      "changes = 0, finished_at = NULL",
      {job, column::of(made_at), column::of(at)});
}

void change_promise(Transaction& transaction, std::int64_t job, TimePoint at) {
  transaction.db.run(
      "UPDATE job_promises SET promised_at = $2, changes = changes + 1 WHERE job = $1",
      {job, column::of(at)});
}

void finish_promise(Transaction& transaction, std::int64_t job, TimePoint at) {
  transaction.db.run(
      "UPDATE job_promises SET finished_at = $2 WHERE job = $1 AND finished_at IS NULL",
      {job, column::of(at)});
}

void drop_promise(Transaction& transaction, std::int64_t job) {
  transaction.db.run(
      "UPDATE job_promises SET finished_at = 0 WHERE job = $1 AND finished_at IS NULL", {job});
}

// Events have the wall clock's times.
std::optional<TimePoint> last_change(Transaction& transaction, std::int64_t job) {
  const auto rows = transaction.db.query(
      "SELECT at FROM job_events WHERE job = $1 AND event = $2 ORDER BY number DESC LIMIT 1",
      {job, column::of(JobEvent::promise)});
  if (!rows->next()) return std::nullopt;
  return transaction.now - (transaction.wall - column::time(*rows, 0));
}

std::vector<MaybePromised> jobs_to_promise(Transaction& transaction, std::size_t most) {
  std::int64_t after = 0;
  {
    const auto rows =
        transaction.db.query("SELECT value FROM settings WHERE name = $1", {k_promised_to});
    if (rows->next()) after = parse_number<std::int64_t>(column::text(*rows, 0)).value_or(0);
  }
  const auto rows = transaction.db.query(
      "SELECT j.number, CASE WHEN j.state < 3 AND p.job IS NULL THEN 1 ELSE 0 END, "
      "j.submitted_at FROM jobs j LEFT JOIN job_promises p ON p.job = j.number WHERE j.number > $1 "
      "ORDER BY j.number LIMIT $2",
      {after, column::of(most)});
  std::vector<MaybePromised> jobs;
  while (rows->next()) {
    jobs.push_back({.job = rows->integer(0),
                    .due = rows->integer(1) != 0,
                    .submitted_at = column::time(*rows, 2)});
  }
  return jobs;
}

void write_promised_to(Transaction& transaction, std::int64_t job) {
  transaction.db.run(
      "INSERT INTO settings (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = "
      "$2",
      {k_promised_to, std::to_string(job)});
}

std::vector<JobPromise> due_promises(Transaction& transaction, TimePoint until, std::size_t most) {
  return select_promises(
      transaction, "WHERE finished_at IS NULL AND promised_at < $1 ORDER BY promised_at LIMIT $2",
      column::of(until), most);
}

std::vector<JobPromise> open_promises(Transaction& transaction, std::int64_t after,
                                      std::size_t most) {
  return select_promises(
      transaction, "WHERE finished_at IS NULL AND job > $1 ORDER BY job LIMIT $2", after, most);
}

JobPromiseScore score_promises(Transaction& transaction, TimePoint since) {
  const auto rows = transaction.db.query(
      "SELECT COUNT(*), COUNT(CASE WHEN finished_at <= first_at THEN 1 END), "
      "COUNT(CASE WHEN finished_at <= promised_at THEN 1 END), "
      "COUNT(CASE WHEN changes > 0 THEN 1 END) FROM job_promises WHERE finished_at IS NOT NULL AND "
      "finished_at > 0 AND "
      "finished_at >= $1",
      {column::of(since)});
  if (!rows->next()) return {};
  return {.known = rows->integer(0),
          .kept = rows->integer(1),
          .kept_as_changed = rows->integer(2),
          .changed = rows->integer(3)};
}

double promise_correction(Transaction& transaction) {
  const auto rows = transaction.db.query(
      "SELECT made_at, first_at, finished_at FROM job_promises WHERE finished_at IS NOT NULL AND "
      "finished_at > 0 ORDER "
      "BY finished_at DESC LIMIT $1",
      {column::of(k_promises_learnt_from)});
  std::vector<Promise> promises;
  while (rows->next()) {
    const TimePoint made_at = column::time(*rows, 0);
    promises.push_back({.made_at = made_at,
                        .promised = column::time(*rows, 1) - made_at,
                        .actual = column::time(*rows, 2) - made_at});
  }
  std::reverse(promises.begin(), promises.end());
  return eta_correction(promises);
}

}  // namespace navtalk
