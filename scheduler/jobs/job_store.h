// The jobs in a store: who wants what rendered, who renders it now, and what became of it. Every change
// of a state is one transaction with its event. Times are the caller's, who asks now() for them.
// Error{failed} when the database cannot be reached or stays locked. Thread-safe; shared by processes.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "scheduler/jobs/claim_order.h"
#include "scheduler/jobs/job.h"
#include "scheduler/jobs/retry_rule.h"
#include "scheduler/pool/gpu.h"
#include "scheduler/pool/pool_store.h"
#include "scheduler/store/transaction.h"

namespace navtalk {

struct Submission {
  Job job{};
  bool existed = false;  // under the same key
};

struct JobQuery {
  TenantId tenant{};
  std::optional<JobState> state{};
  std::int64_t after = 0;  // the cursor: the number of the last one seen
  std::size_t limit = 100;
  JobTexts texts = JobTexts::whole;
};

struct JobPage {
  std::vector<Job> jobs{};             // in the order of submission
  std::optional<std::int64_t> next{};  // cursor of the next page; nullopt: this is the last one
};

struct JobTotal {
  std::int64_t jobs = 0;
  VideoMinutes work{};

  friend bool operator==(const JobTotal&, const JobTotal&) = default;
};

// What became of something that a worker reports.
enum class Recorded : std::uint8_t {
  now,
  before,   // the same report came already, and changed the store then
  refused,  // the lease is lost: another worker has the job, or it is over
};

// Looked at in the transaction that makes a job, before it is made; throws where it must not be.
using SubmitRule = std::function<void(Transaction&, const NewJob&)>;

class JobStore {
 public:
  explicit JobStore(std::shared_ptr<StoreBackend> backend, JobRules rules = {})
      : backend_(std::move(backend)), rules_(rules) {}

  const JobRules& rules() const { return rules_; }
  TimePoint now() { return backend_->now(); }
  // See PoolStore::wait_for_change(); every change of a job counts.
  std::uint64_t wait_for_change(std::uint64_t seen, Duration at_most, const std::stop_token& stop) {
    return backend_->wait_for_change(seen, at_most, stop);
  }

  // All of them or none. Error{invalid} for a tenant's name that is not valid, and for a key that the
  // tenant has used for something else. `rule` is not asked about jobs that their key finds.
  std::vector<Submission> submit(std::span<const NewJob> jobs, const Cause& cause, TimePoint now,
                                 const SubmitRule& rule = {});
  Submission submit(const NewJob& job, const Cause& cause, TimePoint now,
                    const SubmitRule& rule = {});
  // The job of the same key and NewJob::request; nullopt: there is none, or its request is not known. Error{invalid} as
  // submit().
  std::optional<Job> asked_before(const NewJob& job);
  // Lets workers have the tenant's queued jobs, by priority and submission and `most` at once, until
  // their work reaches the budget; returns what was released. The last one may exceed the budget,
  // which the caller then takes off the next: otherwise a job that is longer than any budget would
  // never come to its turn.
  JobTotal release(const TenantId& tenant, VideoMinutes budget, std::size_t most,
                   const Cause& cause, TimePoint now);
  // Queues a failed, dead or cancelled job again, with its finished segments and no attempts. The row
  // afterwards, unchanged in other states; nullopt: there is none.
  std::optional<Job> resubmit(const JobId& id, const Cause& cause, TimePoint now);
  // The row afterwards, unchanged when it was over; nullopt: there is none.
  std::optional<Job> cancel(const JobId& id, const Cause& cause, TimePoint now);

  std::optional<Job> find(const JobId& id);
  // The job that was submitted under this key.
  std::optional<Job> find(const TenantId& tenant, const std::string& key);
  JobPage list(const JobQuery& query);
  std::map<JobState, JobTotal> totals(const TenantId& tenant);
  std::vector<JobSegment> segments(const JobId& id);
  // Of the events with higher numbers than `after`.
  std::vector<JobHistory> history(const JobId& id, std::int64_t after = 0);

  // Gives the worker the next job, and the lease on it until now + JobRules::lease. The job tells which
  // segments are finished already.
  // `now`: nullopt is the store's time at the claim, which costs no question of its own. `why`: for its history.
  std::optional<Job> claim(const std::string& worker, const ClaimOrder& order,
                           std::optional<TimePoint> now, const std::string& why = "claimed");
  // The heartbeat of the worker's loop. False: the lease is lost, and the work on it is in vain.
  bool renew(const JobLease& lease, TimePoint now);
  // The same for several, in their order and in one transaction, however many there are.
  std::vector<bool> renew(std::span<const JobLease> leases, TimePoint now);
  // The audio was decoded: how much work it is, which its tenant pays for instead of the guess. False: the lease is lost.
  bool measure(const JobLease& lease, VideoMinutes work);
  // Error{invalid} when an earlier segment is missing. One that was recorded before was made again, and
  // its result is replaced.
  Recorded finish_segment(const JobLease& lease, const JobSegment& segment, TimePoint now);
  // Before the result appears where it belongs: Job::result tells from now on how to know it.
  Recorded intend(const JobLease& lease, const std::string& result, TimePoint now);
  Recorded finish(const JobLease& lease, const std::string& result, TimePoint now);
  // The input is at fault: there is no other try.
  Recorded refuse(const JobLease& lease, const std::string& why, TimePoint now);
  // The try failed: another follows after a delay, or the job is dead. It does not count when it has
  // finished a segment.
  Recorded fail(const JobLease& lease, const std::string& why, TimePoint now);
  // The worker stops; the try does not count.
  Recorded yield(const JobLease& lease, const std::string& why, TimePoint now);
  // The same; the job may be claimed again after `pause`, and Job::error says why until then.
  Recorded yield_for_later(const JobLease& lease, const std::string& why, TimePoint now,
                           Duration pause);

  // Takes the jobs whose lease has expired from their workers. The tries do not count: the rows afterwards are released, at
  // once after the first loss and then after a delay, or dead after JobRules::most_losses without a finished segment. `kept`:
  // jobs that the caller still works on, whose leases it only was late to renew.
  std::vector<Job> requeue_expired(const Cause& cause, TimePoint now,
                                   const std::set<JobId>& kept = {});
  // The same for one worker that is known to have ended.
  std::vector<Job> requeue_of(const std::string& worker, const Cause& cause, TimePoint now);
  // Those that have been over since before then, the oldest first, at most so many. A job whose webhook is to be told of it
  // waits until it was, or until the notice was given up.
  std::vector<JobId> over_since(TimePoint before, std::size_t most);
  // Deletes those of the jobs that are over, with their history. Their files go first: what a crash
  // leaves between is a row, which is found again.
  void forget(std::span<const JobId> jobs);
  // Workers of the running jobs.
  std::vector<std::string> workers();
  // Whether a worker could claim a job now.
  bool has_claimable(TimePoint now);
  // Those of the ids that no job has.
  std::vector<JobId> unknown_of(std::span<const JobId> ids);
  // JobSpec::audio of all jobs that are not over.
  std::set<std::string> audio_in_use();

 private:
  template <class Change>
  Recorded report(const JobLease& lease, JobState after, const Change& change);
  Recorded give_back(const JobLease& lease, const std::string& why, TimePoint now, Duration delay);
  void lose(Transaction& transaction, Job& job, const Cause& cause, TimePoint now) const;

  std::shared_ptr<StoreBackend> backend_;
  JobRules rules_;
};

}  // namespace navtalk
