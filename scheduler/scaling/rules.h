// The rules that turn a target into actions; they hold under every policy. Starting slots are
// supply. Only idle GPUs of the shared pool are removed: cloud first, the most expensive first,
// and of a cluster's nodes the one with the fewest GPUs of the pool.
// Failed rows are not replaced for a while, in an outage until it ends; silent ones neither. Caps,
// backoff and start deadlines are kept. A pod past its maximum age is drained: it is not supply any
// more, so another one comes. A drained pod without sessions is destroyed; a drained local GPU is
// paused, and stays so until the drain is undone.
#pragma once

#include "scheduler/scaling/plan.h"

namespace navtalk {

class Rules {
 public:
  // `plan` has its capacity, its target and its cloud switch already.
  Rules(const Snapshot& snapshot, const ScalingLimits& limits, TimePoint now, Plan& plan)
      : snapshot_(snapshot), limits_(limits), now_(now), plan_(plan) {}

  // Appends the actions, and says in the plan what blocks the rest. Once.
  void run();

 private:
  void fail_stale();
  void release_drained();
  void shrink();
  void rotate_old();

  void act(Action::Kind kind, std::size_t index, std::string_view why);
  bool starts_late(const Gpu& gpu) const;
  bool removable(const Gpu& gpu) const;
  bool stays_for_now(const Gpu& gpu) const;
  bool kept_by_operator(const Gpu& gpu) const;
  bool worth_pausing(const Gpu& gpu, std::size_t paused_pods) const;
  void sort_for_removal(std::vector<std::size_t>& indices) const;
  void drop_paused(std::vector<std::size_t> pods, std::size_t paused_pods);

  const Snapshot& snapshot_;
  const ScalingLimits& limits_;
  TimePoint now_;
  Plan& plan_;
};

}  // namespace navtalk
