// Notices of jobs that are to be posted to the webhook of whoever submitted them. A notice is written in
// the transaction of the event that it tells, and deleted when it was delivered. Thread-safe; shared by
// processes: whoever takes a notice has it until a time, after which others may.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "scheduler/jobs/job.h"
#include "scheduler/store/transaction.h"

namespace navtalk {

struct JobNotice {
  std::int64_t number = 0;
  Job job{};  // as it is now
  JobEvent event = JobEvent::finish;
  JobState to = JobState::done;  // by that event
  std::string why{};
  TimePoint at{};       // of the event, wall clock
  TimePoint made_at{};  // the same by the store's clock
  int failures = 0;
  std::string receiver{};                  // the tenant, and the host of its webhook
  std::optional<TimePoint> promised_at{};  // of the job, as it is now
};

// How much is taken at once.
struct NoticeShare {
  std::size_t receivers = 8;
  std::size_t each = 4;            // of one receiver
  std::set<std::string> except{};  // receivers whose turn it is not
};

// Notices to one receiver that were given up.
struct LostNotices {
  std::string receiver{};
  std::size_t notices = 0;
};

// Whether the event is told: the job is over, or its promise has changed.
bool is_told(JobEvent event, JobState to);
// Within the transaction of the event. Nothing for a job without a webhook.
void insert_notice(Transaction& transaction, const Job& job, JobEvent event,
                   const std::string& why);

class JobNotices {
 public:
  explicit JobNotices(std::shared_ptr<StoreBackend> backend) : backend_(std::move(backend)) {}

  TimePoint now() { return backend_->now(); }

  // Those that are due, the longest first; they are due again after `hold`. However many are due to one
  // receiver, others have theirs.
  std::vector<JobNotice> take(const NoticeShare& share, Duration hold, TimePoint now);
  // Deletes those of the `most` oldest that were made before then.
  std::vector<LostNotices> give_up(TimePoint made_before, std::size_t most);
  // It was delivered.
  void remove(std::int64_t number);
  // Not tried yet: due again then.
  void hold(std::span<const std::int64_t> numbers, TimePoint until);
  // It was not delivered: due again then.
  void postpone(std::int64_t number, TimePoint until);

 private:
  std::shared_ptr<StoreBackend> backend_;
};

}  // namespace navtalk
