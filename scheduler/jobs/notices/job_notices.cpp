#include "scheduler/jobs/notices/job_notices.h"

#include "scheduler/jobs/job_table.h"
#include "scheduler/store/columns.h"
#include "scheduler/store/run_work.h"

namespace navtalk {
namespace {

struct DueNotice {
  std::int64_t job = 0;
  JobNotice notice{};
};

std::vector<DueNotice> due_notices(Transaction& t, std::size_t most, TimePoint now) {
  const auto rows = t.db.query(
      "SELECT number, job, event, to_state, why, at, made_at, failures FROM job_notices WHERE "
      "due_at <= $1 ORDER BY due_at LIMIT $2",
      {column::of(now), column::of(most)});
  std::vector<DueNotice> due;
  while (rows->next()) {
    due.push_back({.job = rows->integer(1),
                   .notice = {.number = rows->integer(0),
                              .event = column::number<JobEvent>(*rows, 2),
                              .to = column::number<JobState>(*rows, 3),
                              .why = column::text(*rows, 4),
                              .at = column::time(*rows, 5),
                              .made_at = column::time(*rows, 6),
                              .failures = column::number<int>(*rows, 7)}});
  }
  return due;
}

}  // namespace

bool is_told(JobEvent event, JobState to) { return event == JobEvent::promise || is_final(to); }

void insert_notice(Transaction& transaction, const Job& job, JobEvent event,
                   const std::string& why) {
  if (job.spec.webhook.empty() || !is_told(event, job.state)) return;
  transaction.db.run(
      "INSERT INTO job_notices (job, event, to_state, why, at, made_at, due_at, failures) VALUES "
      "($1, $2, $3, $4, $5, $6, $6, 0)",
      {job.number, column::of(event), column::of(job.state), why, column::of(transaction.wall),
       column::of(transaction.now)});
}

std::vector<JobNotice> JobNotices::take(std::size_t most, Duration hold, TimePoint now) {
  const auto any = [&](Transaction& t) { return !due_notices(t, 1, now).empty(); };
  if (!in_read(*backend_, any)) return {};
  return in_write(*backend_, Durability::relaxed, [&](Transaction& t) {
    std::vector<JobNotice> taken;
    for (DueNotice& due : due_notices(t, most, now)) {
      auto job = find_job(t, due.job);
      if (!job) {
        t.db.run("DELETE FROM job_notices WHERE number = $1", {due.notice.number});
        continue;
      }
      t.db.run("UPDATE job_notices SET due_at = $2 WHERE number = $1",
               {due.notice.number, column::of(now + hold)});
      due.notice.job = std::move(*job);
      taken.push_back(std::move(due.notice));
    }
    return taken;
  });
}

void JobNotices::remove(std::int64_t number) {
  in_write(*backend_, Durability::durable, [&](Transaction& t) {
    t.db.run("DELETE FROM job_notices WHERE number = $1", {number});
    return true;
  });
}

void JobNotices::hold(std::int64_t number, TimePoint until) {
  in_write(*backend_, Durability::relaxed, [&](Transaction& t) {
    t.db.run("UPDATE job_notices SET due_at = $2 WHERE number = $1", {number, column::of(until)});
    return true;
  });
}

void JobNotices::postpone(std::int64_t number, TimePoint until) {
  in_write(*backend_, Durability::relaxed, [&](Transaction& t) {
    t.db.run("UPDATE job_notices SET due_at = $2, failures = failures + 1 WHERE number = $1",
             {number, column::of(until)});
    return true;
  });
}

}  // namespace navtalk
