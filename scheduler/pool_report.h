// The pool as JSON, the same for `navtalk pool status --json` and GET /v1/pool.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "scheduler/headroom.h"
#include "scheduler/pool_store.h"

namespace navtalk {

// What stands beside the rows in a report.
struct PoolTotals {
  int gpus = 0, sessions = 0, slots = 0, free_slots = 0, waiting = 0;
  std::array<int, k_states> by_state{};
  double usd_per_hour = 0;             // of everything that is paid for now
  double usd_last_day = 0;             // from the ledger
  std::optional<Decision> decision{};  // the scaler's last one
  // What the adaptive law has learnt, also in the shadow; none without one or without recent ticks.
  std::optional<Headroom> headroom{};
  bool cloud = false;
  std::string creation_paused{};  // why, while creation in the cloud is paused
};

struct PoolReport {
  PoolView view;
  PoolTotals totals;
  Duration wall{};  // wall clock minus the store's: for showing the store's times
};

PoolReport report_pool(PoolStore& store);

// A time of the store as the wall clock has it.
TimePoint on_the_wall(const PoolReport& report, TimePoint time);

nlohmann::ordered_json as_json(const PoolReport& report);
nlohmann::ordered_json as_json(const PoolReport& report, const Gpu& gpu);
nlohmann::ordered_json as_json(const PoolEvent& event);

}  // namespace navtalk
