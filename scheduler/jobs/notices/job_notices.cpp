#include "scheduler/jobs/notices/job_notices.h"

#include <map>

#include "core/base/error.h"
#include "core/net/url.h"
#include "scheduler/jobs/job_table.h"
#include "scheduler/jobs/promises/promise_table.h"
#include "scheduler/store/columns.h"
#include "scheduler/store/run_work.h"

namespace navtalk {
namespace {

struct DueNotice {
  std::int64_t job = 0;
  JobNotice notice{};
};

std::string receiver_of(const JobSpec& spec) {
  try {
    return spec.tenant.text + " " + parse_http_url(spec.webhook).authority();
  } catch (const Error&) {
    return spec.tenant.text + " " + spec.webhook;
  }
}

// Those with something due, the longest first.
std::vector<std::string> due_receivers(Transaction& t, const NoticeShare& share, TimePoint now) {
  const auto rows = t.db.query(
      "SELECT receiver FROM job_notices WHERE due_at <= $1 GROUP BY receiver ORDER BY MIN(due_at) "
      "LIMIT $2",
      {column::of(now), column::of(share.receivers + share.except.size())});
  std::vector<std::string> receivers;
  while (rows->next() && receivers.size() < share.receivers) {
    std::string receiver = column::text(*rows, 0);
    if (!share.except.contains(receiver)) receivers.push_back(std::move(receiver));
  }
  return receivers;
}

DueNotice read_due(DbRows& rows, const std::string& receiver) {
  DueNotice due;
  due.job = rows.integer(1);
  JobNotice& notice = due.notice;
  notice.number = rows.integer(0);
  notice.event = column::number<JobEvent>(rows, 2);
  notice.to = column::number<JobState>(rows, 3);
  notice.why = column::text(rows, 4);
  notice.at = column::time(rows, 5);
  notice.made_at = column::time(rows, 6);
  notice.failures = column::number<int>(rows, 7);
  notice.receiver = receiver;
  return due;
}

std::vector<DueNotice> due_notices(Transaction& t, const std::string& receiver, std::size_t most,
                                   TimePoint now) {
  const auto rows = t.db.query(
      "SELECT number, job, event, to_state, why, at, made_at, failures FROM job_notices WHERE "
      "receiver = $1 AND due_at <= $2 ORDER BY due_at, number LIMIT $3",
      {receiver, column::of(now), column::of(most)});
  std::vector<DueNotice> due;
  while (rows->next()) due.push_back(read_due(*rows, receiver));
  return due;
}

void delete_notice(Transaction& t, std::int64_t number) {
  t.db.run("DELETE FROM job_notices WHERE number = $1", {number});
}

std::optional<JobNotice> taken_notice(Transaction& t, DueNotice due, TimePoint until) {
  auto job = find_job(t, due.job);
  // What was promised says nothing behind the end, which is told by another notice: it is deleted.
  if (!job || (due.notice.event == JobEvent::promise && is_final(job->state))) {
    delete_notice(t, due.notice.number);
    return std::nullopt;
  }
  t.db.run("UPDATE job_notices SET due_at = $2 WHERE number = $1",
           {due.notice.number, column::of(until)});
  due.notice.job = std::move(*job);
  if (const auto promise = find_promise(t, due.job)) due.notice.promised_at = promise->promised_at;
  return std::move(due.notice);
}

struct OldNotice {
  std::int64_t number = 0;
  std::string receiver{};
};

std::vector<OldNotice> old_notices(Transaction& t, TimePoint made_before, std::size_t most) {
  const auto rows =
      t.db.query("SELECT number, receiver, made_at FROM job_notices ORDER BY number LIMIT $1",
                 {column::of(most)});
  std::vector<OldNotice> old;
  while (rows->next()) {
    if (column::time(*rows, 2) >= made_before) continue;
    old.push_back({.number = rows->integer(0), .receiver = column::text(*rows, 1)});
  }
  return old;
}

}  // namespace

bool is_told(JobEvent event, JobState to) { return event == JobEvent::promise || is_final(to); }

void insert_notice(Transaction& transaction, const Job& job, JobEvent event,
                   const std::string& why) {
  if (job.spec.webhook.empty() || !is_told(event, job.state)) return;
  transaction.db.run(
      "INSERT INTO job_notices (job, event, to_state, why, at, made_at, due_at, failures, "
      "receiver) VALUES ($1, $2, $3, $4, $5, $6, $6, 0, $7)",
      {job.number, column::of(event), column::of(job.state), why, column::of(transaction.wall),
       column::of(transaction.now), receiver_of(job.spec)});
}

std::vector<JobNotice> JobNotices::take(const NoticeShare& share, Duration hold, TimePoint now) {
  // Usually there is none; then no writer is delayed.
  const auto any = [&](Transaction& t) { return !due_receivers(t, share, now).empty(); };
  if (!in_read(*backend_, any)) return {};
  return in_write(*backend_, Durability::relaxed, [&](Transaction& t) {
    std::vector<JobNotice> taken;
    for (const std::string& receiver : due_receivers(t, share, now)) {
      for (DueNotice& due : due_notices(t, receiver, share.each, now)) {
        auto notice = taken_notice(t, std::move(due), now + hold);
        if (notice) taken.push_back(std::move(*notice));
      }
    }
    return taken;
  });
}

std::vector<LostNotices> JobNotices::give_up(TimePoint made_before, std::size_t most) {
  const auto any = [&](Transaction& t) { return !old_notices(t, made_before, most).empty(); };
  if (!in_read(*backend_, any)) return {};
  return in_write(*backend_, Durability::durable, [&](Transaction& t) {
    std::map<std::string, std::size_t> lost;
    for (const OldNotice& old : old_notices(t, made_before, most)) {
      delete_notice(t, old.number);
      ++lost[old.receiver];
    }
    std::vector<LostNotices> all;
    for (const auto& [receiver, notices] : lost)
      all.push_back({.receiver = receiver, .notices = notices});
    return all;
  });
}

void JobNotices::remove(std::int64_t number) {
  in_write(*backend_, Durability::durable, [&](Transaction& t) { delete_notice(t, number); });
}

void JobNotices::hold(std::span<const std::int64_t> numbers, TimePoint until) {
  in_write(*backend_, Durability::relaxed, [&](Transaction& t) {
    for (const std::int64_t number : numbers)
      t.db.run("UPDATE job_notices SET due_at = $2 WHERE number = $1", {number, column::of(until)});
  });
}

void JobNotices::postpone(std::int64_t number, TimePoint until) {
  in_write(*backend_, Durability::relaxed, [&](Transaction& t) {
    t.db.run("UPDATE job_notices SET due_at = $2, failures = failures + 1 WHERE number = $1",
             {number, column::of(until)});
  });
}

}  // namespace navtalk
