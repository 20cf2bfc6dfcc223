// The pool's part of /metrics: what the store knows at the time of one scrape.
#pragma once

#include <vector>

#include "scheduler/cost/budget.h"
#include "scheduler/pool/pool_store.h"
#include "scheduler/service/pool_report.h"
#include "server/http/metrics.h"

namespace navtalk::server {

struct PoolFacts {
  PoolReport report;
  std::vector<Attempt> attempts;
  PromiseScore promises;
  std::vector<BudgetState> budgets{};
};

// Reads the store: blocks.
PoolFacts read_pool_facts(PoolStore& store, const Budgets& budgets);
void add_pool_metrics(MetricsPage& page, const PoolFacts& facts);

}  // namespace navtalk::server
