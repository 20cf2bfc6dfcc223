// What the pool's cloud GPUs cost, day by day, and who used them: the ledger beside what sessions held.
#pragma once

#include <chrono>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "scheduler/pool/pool_store.h"
#include "scheduler/pool/usage.h"

namespace navtalk {

// Of one provider on one day (UTC).
struct DaySpend {
  std::chrono::sys_days day{};
  Origin origin = Origin::cloud;
  double gpu_hours = 0, usd = 0;  // from the ledger; 0 for GPUs that are not paid for by the hour
  std::int64_t sessions = 0;      // that ended on the day
  double session_hours = 0;       // in which slots were held
  double used_usd = 0;  // the part of `usd` that sessions used; the rest was idle or starting
};

struct TenantSpend {
  TenantId tenant{};
  std::int64_t sessions = 0;
  double session_hours = 0, usd = 0;
};

struct Spend {
  std::chrono::sys_days from{}, to{};  // first and last day
  std::vector<DaySpend> days{};  // by day, then provider; without days on which nothing happened
  std::vector<TenantSpend> tenants{};  // dearest first
  double gpu_hours = 0, usd = 0, session_hours = 0, used_usd = 0;
};

// The last `days` days, today included (from 1 on). Open spans and open sessions count until now.
Spend read_spend(PoolStore& store, int days);
// What the ledger says since then, by the wall clock.
double usd_since(PoolStore& store, TimePoint wall);

// 2026-11-23
std::string day_text(std::chrono::sys_days day);
nlohmann::ordered_json as_json(const Spend& spend);

}  // namespace navtalk
