// The pool as JSON, the same for `navtalk pool status --json` and GET /v1/pool.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <set>

#include "scheduler/forecast/headroom.h"
#include "scheduler/forecast/lead_times.h"
#include "scheduler/pool/faults/outage.h"
#include "scheduler/pool/pool_store.h"
#include "scheduler/pool/schedule/timetable_state.h"

namespace navtalk {

// What stands beside the rows in a report.
struct PoolTotals {
  // Free: on GPUs that answer, and whose host is there to hand them out.
  int gpus = 0, sessions = 0, slots = 0, free_slots = 0, waiting = 0;
  std::array<int, k_states> by_state{};
  double usd_per_hour = 0;             // of everything that is paid for now
  double usd_last_day = 0;             // from the ledger
  std::optional<Decision> decision{};  // the scaler's last one
  // What the adaptive policy has learned, also in the shadow; none without one or without recent ticks.
  std::optional<Headroom> headroom{};
  // The scaler has not ticked for much longer than usual: nobody may be there, and what the
  // rows say may be old.
  bool stale = false;
  bool cloud = false;
  std::string creation_paused{};  // why, while creation in the cloud is paused
  Outages outages{};
  ByOrigin<bool> sessions_break{};  // of most GPUs that answer well
  TimetableState timetable{};       // what holds still; by the wall clock
  ByOrigin<int> silent{};           // GPUs that serve but do not answer
};

struct PoolReport {
  PoolView view;
  PoolTotals totals;
  std::set<std::string> hosts{};  // whose `serve` lives
  Duration wall{};                // wall clock minus the store's: for showing the store's times
};

PoolReport report_pool(PoolStore& store);

// A local GPU whose host runs no gateway any more has nobody who looks after it: its row is what
// was last known.
bool supervised(const PoolReport& report, const Gpu& gpu);
// By the ticks of the last hour, newest last: is the last one older than a minute and than three
// times the pause between the last few (seconds in `serve`, what a timer says else)?
bool ticks_are_overdue(const std::vector<TimePoint>& ticks, TimePoint now);

// A time of the store as the wall clock has it.
TimePoint on_the_wall(const PoolReport& report, TimePoint time);

nlohmann::ordered_json as_json(const PoolReport& report);
nlohmann::ordered_json as_json(const PoolReport& report, const Gpu& gpu);
nlohmann::ordered_json as_json(const PoolEvent& event);

}  // namespace navtalk
