// The pool's loops in one process of `navtalk serve`: scaler, executor, prober, reconcilers and
// housekeeping, each on a thread of its own. Any number of such processes may share a store; what
// only one may do at a time is done by the holder of the scaler's lease.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "core/base/guarded.h"
#include "core/log/error_throttle.h"
#include "scheduler/health/prober.h"
#include "scheduler/provision/executor.h"
#include "scheduler/provision/hosts.h"
#include "scheduler/provision/reconciler.h"
#include "scheduler/scaling/scaler.h"

namespace navtalk {

struct PoolServiceOptions {
  std::string owner;  // this_process()
  PoolIdentity identity;
  std::optional<Host> host{};  // the local devices; nullopt: no local workers here
  std::string worker_token;
  ScalingLimits limits{};
  int cloud_slots = 1;
  Duration settle = std::chrono::seconds(90);  // see ReconcilerOptions
  Duration lease = std::chrono::seconds(30);   // of sessions, see AllocatorOptions
};

class PoolService {
 public:
  // `providers`: one a source; they outlive the service.
  PoolService(PoolStore& store, Supply& supply, DemandTracker& demand_tracker,
              std::vector<Provider*> providers, PoolServiceOptions options);
  // Stops the loops; GPUs stay as they are.
  ~PoolService();

  // Whether this process is the scaler now.
  bool leading() const { return leading_; }
  // One sentence for each loop whose last turn failed, or that has not turned for 30 s. For
  // /readyz.
  std::vector<std::string> problems() const;

 private:
  struct Loop {
    std::string name;
    std::atomic<std::int64_t> turned_us{0};  // steady clock
    Guarded<std::string> error{};            // of the last turn; empty: it went well
    std::jthread thread;
  };

  void start(const std::string& name, Duration every,
             std::function<void(const std::stop_token&)> step);
  std::string this_host() const;
  void housekeeping();
  void reconcile(const std::stop_token& stop);

  PoolStore& store_;
  Supply& supply_;
  PoolServiceOptions options_;
  Executor executor_;
  Prober prober_;
  Scaler scaler_;
  std::map<Source, std::unique_ptr<Reconciler>> reconcilers_;
  std::map<Source, TimePoint> reconcile_at_;
  TimePoint sign_in_at_{};
  std::atomic<bool> leading_{false};
  OutageLog outage_{"the pool's loops"};
  std::vector<std::unique_ptr<Loop>> loops_;
};

}  // namespace navtalk
