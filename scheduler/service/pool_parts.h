// What changes the pool, made from one set of options: the loops of `navtalk serve` and the single
// tick of `navtalk pool scale` run the same parts.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/cost/budget.h"
#include "scheduler/health/prober.h"
#include "scheduler/provision/executor/executor.h"
#include "scheduler/provision/hosts.h"
#include "scheduler/provision/reconciler/reconciler.h"
#include "scheduler/scaling/scaler.h"
#include "scheduler/service/event_webhook.h"

namespace navtalk {

struct PoolOptions {
  std::string owner;  // this_process()
  PoolIdentity identity;
  std::optional<Host> host{};  // the local devices; nullopt: no local workers here
  WorkerTokens worker_tokens{};
  ScalingLimits limits{};
  std::shared_ptr<const Timetable> timetable{};  // none: `limits` always
  Budgets budgets{};
  std::optional<EventWebhookOptions> webhook{};
  int cloud_slots = 1;
  Duration consistency_window = std::chrono::seconds(90);  // see ReconcilerOptions
  Duration lease = std::chrono::seconds(30);               // of sessions, see AllocatorOptions
};

struct PoolParts {
  // All outlive the parts. `providers`: one a source.
  struct Uses {
    PoolStore& store;
    Supply& supply;
    DemandTracker& demand_tracker;
    std::vector<Provider*> providers;
  };
  struct Mode {
    std::function<void()> after_failure;  // see Executor
    bool probe_at_once = false;           // every worker is due at every step of the prober
  };
  PoolParts(const Uses& uses, const PoolOptions& options, Mode mode);
  PoolParts(const PoolParts&) = delete;  // the scaler asks the prober
  PoolParts& operator=(const PoolParts&) = delete;

  Executor executor;
  Prober prober;
  Scaler scaler;
  std::map<Source, Reconciler> reconcilers{};  // of the sources whose provider lists GPUs
};

}  // namespace navtalk
