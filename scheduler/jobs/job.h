// A job: one offline rendering. What is asked for, and what has become of it. Values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/id.h"
#include "core/base/time.h"
#include "scheduler/jobs/job_state.h"
#include "scheduler/jobs/video_minutes.h"
#include "scheduler/pool/gpu.h"

namespace navtalk {

using JobId = Id<struct JobTag>;

// What is rendered, and where to: given once, at submission. Texts are UTF-8 without NUL.
struct JobSpec {
  TenantId tenant{};
  std::string avatar{};
  std::string audio{};         // a file or a URL; empty: text is spoken
  std::string text{};          // where there is no audio
  std::string voice{};         // that speaks the text
  std::string output{};        // where the video goes
  std::string options = "{}";  // of the video: a JSON object
  int priority = 0;            // higher is served first
  std::string webhook{};       // URL that is told when the job is over; empty: none

  friend bool operator==(const JobSpec&, const JobSpec&) = default;
};

// Whether JobSpec::text is read; it may have 100 kB.
enum class JobTexts : std::uint8_t { whole, left_out };

struct NewJob {
  JobSpec spec{};
  VideoMinutes work{};     // of the decoded audio
  bool estimated = false;  // the audio has not been decoded yet, and work is a guess
  // Of one tenant: a second submission under it gives the first one's job. Empty: none.
  std::string key{};
  // A digest of what was asked for with the key, before it was judged and fetched; empty: `spec` says it.
  std::string request{};
};

struct Job {
  std::int64_t number = 0;  // grows with each submission
  JobId id{};
  JobSpec spec{};
  VideoMinutes work{};
  bool estimated = false;
  std::string key{}, request{};  // as in NewJob
  TimePoint submitted_at{};

  JobState state = JobState::queued;
  TimePoint changed_at{};  // when the state or a segment last did
  TimePoint
      not_before{};  // released again after a failed or lost try: claimed from then on; else the epoch
  int attempts = 0;         // that count, since it was submitted, the running one included
  std::uint64_t epoch = 0;  // fencing token of the last claim
  std::string worker{};     // that holds or last held the lease
  TimePoint lease_until{};  // while running
  int segments = 0;         // finished ones
  VideoMinutes finished{};  // of the segments
  // What its tenant has paid for this release and for this claim (shares/charges.h).
  VideoMinutes charged{}, placed{};
  // Of a done one: a JSON object. Of others: what intend() said last, from which one can tell after a
  // crash whether that result appeared.
  std::string result{};
  std::string error{};  // why the last try failed, or why there is no other

  friend bool operator==(const Job&, const Job&) = default;
};

// Job::error as it is shown: what a try failed for is no error of a job that runs again, was done or is no longer wanted.
inline const std::string& shown_error(const Job& job) {
  static const std::string none;
  const bool wanting = job.state == JobState::queued || job.state == JobState::released;
  const bool ended = job.state == JobState::failed || job.state == JobState::dead;
  return wanting || ended ? job.error : none;
}

// A worker's hold on a running job. Whoever claims the job later gets a higher epoch, and then what
// comes under this one is refused.
struct JobLease {
  JobId job{};
  std::uint64_t epoch = 0;
};

// A part of the video, in the order of time; the first has the index 0.
struct JobSegment {
  int index = 0;
  VideoMinutes work{};
  std::string result{};  // where it is: a JSON object

  friend bool operator==(const JobSegment&, const JobSegment&) = default;
};

struct JobHistory {
  std::int64_t number = 0;  // grows
  TimePoint at{};           // wall clock
  JobId job{};
  JobEvent event = JobEvent::submit;
  JobState to = JobState::queued;
  std::string who{}, why{};
};

}  // namespace navtalk
