// The unfinished jobs of one tenant, and what the division of the capacity remembers about the tenant.
#pragma once

#include <cstdint>

#include "scheduler/jobs/shares/demand_envelope.h"
#include "scheduler/jobs/shares/slot_history.h"
#include "scheduler/jobs/shares/tenant_terms.h"
#include "scheduler/jobs/shares/work_bucket.h"
#include "scheduler/pool/gpu.h"

namespace navtalk {

// Where the tenant stands in the fair order of its plan, in video-minutes by weight (claim_choice.h).
struct FairPlace {
  double started = 0;   // virtual time at which its last job was claimed
  double finished = 0;  // and at which that job is paid for

  friend bool operator==(const FairPlace&, const FairPlace&) = default;
};

struct TenantLine {
  TenantId tenant{};
  TenantTerms terms{};
  // Work that has not been released, that waits for a worker, and that is being rendered.
  VideoMinutes queued{}, released{}, running{};
  std::int64_t queued_jobs = 0, released_jobs = 0, running_jobs = 0;

  DemandEnvelope demand{};
  double share = 0;  // video-minutes a minute
  WorkBucket bucket{};
  FairPlace place{};
  SlotHistory history{};
  WaitHistory waits{};  // of what is queued and released
  TimePoint
      submitted_at{};  // when a turn last saw that it had submitted something; the epoch: never
};

// Released jobs that idle GPUs would take now, and their work.
std::int64_t claimable_jobs(const TenantLine& line);
VideoMinutes claimable_work(const TenantLine& line);

}  // namespace navtalk
