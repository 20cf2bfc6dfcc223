// Which jobs this gateway's disk or store did not take, how often, and until when it begins no others for that. Pure; one
// thread.
#pragma once

#include <chrono>
#include <map>
#include <optional>

#include "core/base/time.h"
#include "scheduler/jobs/job.h"

namespace navtalk::server {

class UnkeptJobs {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr Duration k_longest_pause = std::chrono::seconds(60);
  // Those that are counted: a gateway that runs for months forgets them all rather than grow.
  static constexpr std::size_t k_most = 10'000;

  // `first_pause` of the gateway; each later one is twice as long, up to k_longest_pause.
  explicit UnkeptJobs(Duration first_pause) : first_pause_(first_pause) {}

  // It could not be kept. The gateway pauses, unless the job's own files are at fault: it alone failed again, or others
  // were kept since it failed first.
  void failed(const JobId& job, Time now);
  // It could be kept to its end.
  void done(const JobId& job);
  // It ended for another reason.
  void ended(const JobId& job) { jobs_.erase(job); }
  // How often in a row it could not be kept.
  int times(const JobId& job) const;
  bool pauses(Time now) const { return now < paused_until_; }

 private:
  struct Unkept {
    int times = 0;
    bool others_kept = false;  // since it failed first
  };
  void pause(Time now);

  const Duration first_pause_;
  std::map<JobId, Unkept> jobs_{};
  std::optional<JobId> last_{};  // for which the gateway paused, or would have
  Duration pause_{};             // the latest one
  Time paused_until_{};
};

}  // namespace navtalk::server
