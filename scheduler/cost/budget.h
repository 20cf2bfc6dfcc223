// Budgets of a day and a month (UTC): what is spent of them, and one warning at each of 50, 80 and
// 100 %. They stop nothing; pool.max_usd_per_hour does.
#pragma once

#include <chrono>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "scheduler/pool/pool_store.h"

namespace navtalk {

struct Budgets {
  double usd_per_day = 0, usd_per_month = 0;  // 0: none
};

struct BudgetState {
  std::string period;  // "day", "month"
  std::string name;    // "2026-11-23", "2026-11"
  double budget_usd = 0, spent_usd = 0;
};

// UTC, by the wall clock.
std::chrono::sys_days today();

// Of those that are set, for the periods that `day` is in: what was spent since they began.
std::vector<BudgetState> budget_states(PoolStore& store, const Budgets& budgets,
                                       std::chrono::sys_days day = today());

nlohmann::ordered_json as_json(const std::vector<BudgetState>& states);

// The highest of 50, 80 and 100 that the spent part reaches; 0 below.
int reached_percent(const BudgetState& state);

// Records an event and logs a warning for each threshold that was reached since the last call, by any
// process. A budget that jumps over thresholds is warned of once, for the highest.
void watch_budgets(PoolStore& store, const Budgets& budgets, std::chrono::sys_days day = today());

}  // namespace navtalk
