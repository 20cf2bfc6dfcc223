// The whole of the pool's work once, for cron and systemd timers: look at the cloud, ask the
// workers, decide, carry out. What local workers need is written as intent; their host's `serve`
// does it.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "scheduler/health/prober.h"
#include "scheduler/provision/executor.h"
#include "scheduler/provision/reconciler.h"
#include "scheduler/scaling/scaler.h"
#include "scheduler/service/pool_service.h"

namespace navtalk {

class SingleTick {
 public:
  SingleTick(PoolStore& store, Supply& supply, DemandTracker& demand_tracker,
             std::vector<Provider*> providers, PoolServiceOptions options);

  // Ends when every call to a provider has its outcome, after three minutes at the latest: what is
  // not done then is taken up by the next tick.
  Tick run(const std::stop_token& stop);
  // What run() would decide; nothing is changed.
  Tick dry_run() { return scaler_.dry_run(); }

 private:
  void ask_workers(const std::stop_token& stop);
  void carry_out(const std::stop_token& stop);

  PoolStore& store_;
  Duration lease_;
  Executor executor_;
  Prober prober_;
  Scaler scaler_;
  std::vector<std::unique_ptr<Reconciler>> reconcilers_;
};

}  // namespace navtalk
