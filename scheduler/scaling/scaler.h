// One tick of the scaler: hold the scaler's lease, read the pool, decide, write intents, record the
// decision. Executors carry the intents out. Used by the loop of `navtalk serve` and by `navtalk pool scale`.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/forecast/demand_tracker.h"
#include "scheduler/pool/pool_store.h"
#include "scheduler/pool/schedule/timetable.h"
#include "scheduler/provision/provider.h"
#include "scheduler/provision/supply.h"
#include "scheduler/scaling/maintenance.h"
#include "scheduler/scaling/plan.h"

namespace navtalk {

struct ScalerOptions {
  ScalingLimits limits;
  std::shared_ptr<const Timetable> timetable{};  // in place of `limits`, which none of its entries
                                                 // changes the tick of
  std::string owner;                             // this_process()
  int cloud_slots = 1;
  // Has this process asked a failed GPU that may return for long enough to know that it does not?
  std::function<bool(const Gpu&)> has_asked{};  // none: all
  Duration lease = std::chrono::seconds(20);    // of the one scaler
  Duration keep_events = std::chrono::days(30);
};

struct Tick {
  bool held = false;  // false: another process is the scaler now, nothing was done
  Plan plan{};
  std::vector<std::string> explanation{};
  int acted = 0;  // changes that were written
};

class Scaler {
 public:
  // `cloud`: the cloud provider, nullptr where none is configured.
  Scaler(PoolStore& store, Supply& supply, DemandTracker& demand_tracker, const Provider* cloud,
         ScalerOptions options);
  // Gives the lease back.
  ~Scaler();
  Scaler(const Scaler&) = delete;
  Scaler& operator=(const Scaler&) = delete;

  // Takes or keeps the one scaler's lease.
  bool hold();
  Tick tick();
  // What tick() would do; changes nothing, needs no lease.
  Tick dry_run();

 private:
  Snapshot snapshot(const PoolView& view, const std::vector<Decision>& decisions);
  bool act(const Action& action, const PoolView& view, std::uint64_t fence);
  MaintenancePlan maintenance(const PoolView& view);
  int carry_out(const MaintenancePlan& plan, const PoolView& view, std::uint64_t fence);
  void remember_timetable();
  void remember(const Plan& plan, const PoolView& view);
  // `only_asked`: what was not asked yet is kept. A dry run asks nobody.
  Tick decide_on(const PoolView& view, bool only_asked);

  PoolStore& store_;
  Supply& supply_;
  DemandTracker& demand_tracker_;
  const Provider* cloud_;
  ScalerOptions options_;
  std::shared_ptr<const Timetable> timetable_;
  ScalingLimits limits_;             // of this tick
  std::vector<TimedTarget> recent_;  // what the snapshot's span shows
  TimePoint forgot_at_{};
};

}  // namespace navtalk
