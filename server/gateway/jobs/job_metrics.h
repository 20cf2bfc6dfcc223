// Offline work in the gateway's /metrics.
#pragma once

#include <cstddef>

#include "scheduler/jobs/shares/tenant_store.h"
#include "scheduler/pool/pool_store.h"
#include "server/gateway/jobs/job_dispatcher.h"
#include "server/http/metrics.h"

namespace navtalk::server {

// What the store tells of it, for all tenants and gateways.
struct JobFacts {
  Division division{};
  JobPromiseScore promises{};  // of the last day
  int wanted_slots = 0;
};
// Error{failed} when the database cannot be reached.
JobFacts read_job_facts(PoolStore& pool, TenantStore& tenants);

void add_job_metrics(MetricsPage& page, const JobCounters& counters, std::size_t running);
void add_job_metrics(MetricsPage& page, const JobFacts& facts);

}  // namespace navtalk::server
