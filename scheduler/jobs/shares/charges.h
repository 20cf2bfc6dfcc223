// What a job costs its tenant: the bucket pays for it when the tenant's share releases it, and the place in the fair
// order moves on when it is claimed. Both are corrected when the work is measured, and what was not rendered is given
// back. Stateless; all within the caller's transaction, which then writes the job's row.
//
//   charged: release ─── measured: by the difference ─── refused, cancelled: the rest is given back
//   placed:  claim ───── measured: by the difference ─── given back, lost, failed, cancelled: the rest is
#pragma once

#include "scheduler/jobs/job.h"
#include "scheduler/jobs/shares/work_bucket.h"
#include "scheduler/store/transaction.h"

namespace navtalk {

// What is left to be rendered.
VideoMinutes work_left(const Job& job);

// Takes what is left of the job from the bucket, whose row the caller writes.
void charge_release(Job& job, WorkBucket& bucket);
// The job's work becomes what was measured.
void settle_measured(Transaction& transaction, Job& job, VideoMinutes measured);
// After an event that ends a claim or the job.
void settle_end(Transaction& transaction, Job& job, JobEvent event);

}  // namespace navtalk
