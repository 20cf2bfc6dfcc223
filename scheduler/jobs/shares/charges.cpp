#include "scheduler/jobs/shares/charges.h"

#include <algorithm>

#include "scheduler/store/columns.h"

namespace navtalk {
namespace {

// A tenant without a line was charged nothing.
void give_back(Transaction& transaction, const TenantId& tenant, VideoMinutes to_bucket,
               VideoMinutes to_place) {
  if (to_bucket == VideoMinutes{} && to_place == VideoMinutes{}) return;
  transaction.db.run(
      "UPDATE job_shares SET bucket = bucket + $2, finished = finished - $3 / weight WHERE tenant "
      "= "
      "$1",
      {tenant.text, to_bucket.count(), to_place.count()});
}

}  // namespace

VideoMinutes work_left(const Job& job) { return std::max(job.work - job.finished, VideoMinutes{}); }

void charge_release(Job& job, WorkBucket& bucket) {
  job.charged = work_left(job);
  bucket.take(job.charged);
}

void settle_measured(Transaction& transaction, Job& job, VideoMinutes measured) {
  const VideoMinutes less = job.work - measured;
  const auto settled = [&](VideoMinutes& cost) {
    if (cost == VideoMinutes{}) return VideoMinutes{};
    const VideoMinutes before = cost;
    cost = std::max(cost - less, VideoMinutes{});
    return before - cost;
  };
  const VideoMinutes to_bucket = settled(job.charged), to_place = settled(job.placed);
  give_back(transaction, job.spec.tenant, to_bucket, to_place);
  job.work = measured;
}

void settle_end(Transaction& transaction, Job& job, JobEvent event) {
  using enum JobEvent;
  const bool over = is_final(job.state);
  if (!over && event != yield && event != lose && event != retry) return;
  // Tries that failed to the last one have kept GPUs busy. Jobs that are refused keep their place paid: otherwise a tenant's
  // broken ones would come first again and again.
  const bool gives_place = event != finish && event != exhaust && event != refuse;
  const bool gives_bucket = event == refuse || event == cancel;
  const VideoMinutes left = work_left(job);
  give_back(transaction, job.spec.tenant,
            gives_bucket ? std::min(job.charged, left) : VideoMinutes{},
            gives_place ? std::min(job.placed, left) : VideoMinutes{});
  job.placed = {};
  if (over) job.charged = {};
}

}  // namespace navtalk
