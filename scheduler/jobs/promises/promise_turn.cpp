#include "scheduler/jobs/promises/promise_turn.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/text/rfc3339.h"
#include "scheduler/jobs/job_table.h"
#include "scheduler/jobs/promises/job_estimates.h"
#include "scheduler/jobs/promises/promise_rule.h"
#include "scheduler/jobs/promises/promise_table.h"

namespace navtalk {
namespace {

// Promises that are looked at in a turn: those that are due soon, and as many of the others in turn.
constexpr std::size_t k_promises_at_once = 16;
constexpr Duration k_due_soon = std::chrono::minutes(5);
// Jobs that are asked in a turn whether they lack a promise, and those of them that get one. A gateway promises the newest.
constexpr std::size_t k_asked_at_once = 256, k_promised_at_once = 16;
constexpr Duration k_promised_by_gateway = std::chrono::seconds(5);

std::string shown(TimePoint time) {
  return rfc3339(std::chrono::time_point_cast<std::chrono::system_clock::duration>(time));
}

PromiseTimes times_of(Transaction& t, const JobPromise& promise) {
  const auto changed = promise.changes > 0 ? last_change(t, promise.job) : std::nullopt;
  return {.made_at = promise.made_at,
          .promised_at = promise.promised_at,
          .changes = promise.changes,
          .changed_at = changed.value_or(promise.made_at)};
}

}  // namespace

void change_promises(Transaction& t, const Division& division, const Cause& cause,
                     std::int64_t& seen_promise, TimePoint now) {
  std::vector<JobPromise> promises = due_promises(t, now + k_due_soon, k_promises_at_once);
  const std::vector<JobPromise> others = open_promises(t, seen_promise, k_promises_at_once);
  seen_promise = others.size() < k_promises_at_once ? 0 : others.back().job;
  for (const JobPromise& promise : others) {
    const bool known = std::any_of(promises.begin(), promises.end(),
                                   [&](const JobPromise& one) { return one.job == promise.job; });
    if (!known) promises.push_back(promise);
  }
  for (const JobPromise& promise : promises) {
    const auto job = find_job(t, promise.job);
    if (!job || is_final(job->state)) continue;
    const auto estimate = estimate_in(t, division, *job, CountFrom::front, now);
    const TimePoint at = estimate ? estimate->promise : promise.promised_at;
    const auto changed = changed_promise(times_of(t, promise), now, at);
    if (!changed) continue;
    change_promise(t, promise.job, *changed);
    const std::string_view why =
        *changed < promise.promised_at
            ? "less than half of the time is needed"
            : delay_text(estimate ? estimate->cause : FinishCause::no_worker);
    insert_event(t, *job, JobEvent::promise,
                 {cause.who, fmt::format("finished by {} instead of {}: {}", shown(*changed),
                                         shown(promise.promised_at), why)});
    t.notify = true;
  }
}

void promise_rest(Transaction& t, const Division& division, const Cause& cause, TimePoint now) {
  std::int64_t promised_to = 0;
  std::size_t promised = 0;
  for (const MaybePromised& one : jobs_to_promise(t, k_asked_at_once)) {
    if (one.due) {
      if (now - one.submitted_at < k_promised_by_gateway || promised == k_promised_at_once) break;
      const auto job = find_job(t, one.job);
      const auto estimate = job ? estimate_in(t, division, *job, CountFrom::front, now)
                                : std::optional<JobEstimate>();
      if (!estimate) break;
      ++promised;
      insert_promise(t, one.job, now, estimate->promise);
      insert_event(t, *job, JobEvent::promise,
                   {cause.who, "finished by " + shown(estimate->promise)});
      t.notify = true;
    }
    promised_to = one.job;
  }
  if (promised_to > 0) write_promised_to(t, promised_to);
}

}  // namespace navtalk
