// The pool's loops in one process of `navtalk serve`: scaler, executor, prober, housekeeping, and a
// reconciler for each provider, each on a thread of its own, so that a provider whose list hangs
// delays nothing else. Any number of such processes may share a store; what
// only one may do at a time is done by the holder of the scaler's lease.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "core/base/guarded.h"
#include "core/log/error_throttle.h"
#include "scheduler/service/pool_parts.h"

namespace navtalk {

class PoolService {
 public:
  PoolService(const PoolParts::Uses& uses, PoolOptions options);
  // Stops the loops; GPUs stay as they are.
  ~PoolService();

  // Whether this process is the scaler now.
  bool leading() const { return leading_; }
  // One sentence for each loop whose last step failed, or that has had no step for too long. For
  // /readyz.
  std::vector<std::string> problems() const;

 private:
  struct Loop {
    std::string name;
    std::chrono::seconds patience{};       // a step that takes longer is reported as a problem
    std::atomic<std::int64_t> beat_us{0};  // when it last ran well, steady clock
    Guarded<std::string> error{};          // of the last step; empty: it went well
    std::jthread thread;
  };

  void start(const std::string& name, Duration every,
             std::function<void(const std::stop_token&)> step,
             std::chrono::seconds patience = std::chrono::seconds(30));
  void start_reconciler(Source source, Reconciler& reconciler);
  void start_attendant(Provider& provider);
  std::optional<Host> renew_host();
  void housekeeping();

  PoolStore& store_;
  Supply& supply_;
  PoolOptions options_;
  PoolParts parts_;
  Provider* local_ = nullptr;  // of the workers of this host
  std::optional<EventWebhook> webhook_{};
  TimePoint register_at_{};
  std::atomic<bool> leading_{false};
  ErrorThrottleLog outage_{"the pool's loops"};
  std::vector<std::unique_ptr<Loop>> loops_;
};

}  // namespace navtalk
