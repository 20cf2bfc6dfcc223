// All of the pool's work once, for cron and systemd timers: list the cloud, probe the workers, decide,
// carry out. What local workers need is written as intent; their host's `serve` carries it out.
#pragma once

#include <stop_token>

#include "scheduler/service/pool_parts.h"
#include "scheduler/service/tick_problems.h"

namespace navtalk {

struct TickReport {
  Tick tick{};
  std::vector<TickProblem> problems{};  // why a part of its work was not done
};

class SingleTick {
 public:
  SingleTick(const PoolParts::Uses& uses, const PoolOptions& options);

  // Ends when every call to a provider has its outcome, after three minutes at the latest. For 15 s it
  // begins calls: the next tick continues with the rest.
  TickReport run(const std::stop_token& stop);
  // What run() would decide; nothing is changed.
  Tick dry_run() { return parts_.scaler.dry_run(); }

 private:
  void ask_workers(const std::stop_token& stop);
  void carry_out(const std::stop_token& stop);
  std::vector<TickProblem> problems(const Plan& plan);

  PoolStore& store_;
  Duration lease_;
  Budgets budgets_;
  std::vector<Provider*> providers_;
  std::optional<EventWebhook> webhook_{};
  PoolParts parts_;
};

}  // namespace navtalk
