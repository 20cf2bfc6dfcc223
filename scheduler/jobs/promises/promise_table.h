// Rows of the table `job_promises`. Stateless; all within the caller's transaction.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "scheduler/jobs/job.h"
#include "scheduler/store/transaction.h"

namespace navtalk {

struct JobPromise {
  std::int64_t job = 0;  // its number
  TimePoint made_at{};
  TimePoint first_at{};     // promised at submission, or as soon as anything was known
  TimePoint promised_at{};  // promised last
  int changes = 0;
  std::optional<TimePoint> finished_at{};
  bool dropped = false;  // the job ended without a result: the promise is shown, and not scored

  friend bool operator==(const JobPromise&, const JobPromise&) = default;
};

// How well promises of finished jobs were kept.
struct JobPromiseScore {
  std::int64_t known = 0;            // finished jobs
  std::int64_t kept = 0;             // by the time that was promised at submission
  std::int64_t kept_as_changed = 0;  // by the time that was promised last
  std::int64_t changed = 0;
};

std::optional<JobPromise> find_promise(Transaction& transaction, std::int64_t job);
// Replaces an earlier one of a job that was submitted again.
void insert_promise(Transaction& transaction, std::int64_t job, TimePoint made_at, TimePoint at);
void change_promise(Transaction& transaction, std::int64_t job, TimePoint at);
void finish_promise(Transaction& transaction, std::int64_t job, TimePoint at);
// Of a job that ended without a result.
void drop_promise(Transaction& transaction, std::int64_t job);

// When the job's promise changed last, on the clock of `transaction.now`; nullopt: never.
std::optional<TimePoint> last_change(Transaction& transaction, std::int64_t job);

// Jobs that may lack a promise: those above the number up to which all that were not over had one, by number.
struct MaybePromised {
  std::int64_t job = 0;
  bool due = false;  // not over, without a promise
  TimePoint submitted_at{};
};
std::vector<MaybePromised> jobs_to_promise(Transaction& transaction, std::size_t most);
void write_promised_to(Transaction& transaction, std::int64_t job);

// Those that are due before `until`, earliest first.
std::vector<JobPromise> due_promises(Transaction& transaction, TimePoint until, std::size_t most);
// Those of jobs with higher numbers, whether due or not.
std::vector<JobPromise> open_promises(Transaction& transaction, std::int64_t after,
                                      std::size_t most);
// Over the jobs that finished since then.
JobPromiseScore score_promises(Transaction& transaction, TimePoint since);
// eta_correction() of the latest ones.
double promise_correction(Transaction& transaction);

}  // namespace navtalk
