#include "scheduler/jobs/release.h"

#include "scheduler/jobs/job_table.h"
#include "scheduler/jobs/shares/charges.h"
#include "scheduler/store/columns.h"

namespace navtalk {
namespace {

// Rows that are read at once: a budget is often spent by the first of them.
constexpr std::size_t k_page = 16;

}  // namespace

JobTotal release_jobs(Transaction& transaction, const TenantId& tenant, VideoMinutes budget,
                      std::size_t most, const Cause& cause, TimePoint now, WorkBucket* bucket) {
  JobTotal released;
  const auto more = [&] {
    return released.work < budget && static_cast<std::size_t>(released.jobs) < most;
  };
  for (bool any = true; any && more();) {
    const DbValue values[] = {tenant.text, column::of(k_page)};
    std::vector<Job> page = select_jobs(
        transaction, "WHERE tenant = $1 AND state = 0 ORDER BY priority DESC, number LIMIT $2",
        values);
    any = !page.empty();
    for (auto job = page.begin(); job != page.end() && more(); ++job) {
      ++released.jobs;
      released.work += job->work;
      if (bucket != nullptr) charge_release(*job, *bucket);
      apply(transaction, *job, JobEvent::release, cause, now);
    }
  }
  return released;
}

}  // namespace navtalk
