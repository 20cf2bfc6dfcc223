// GPUs that the simulated batch lane has besides those that are always there: as many as the shipped rule wants
// (scheduler/jobs/lanes/batch_demand.h), each after its cold start, whose length is learnt as the scaler learns it. A free one
// ends when for the scaler's hold_down no more were wanted. Seeded.
#pragma once

#include <functional>
#include <queue>
#include <vector>

#include "scheduler/forecast/demand.h"
#include "scheduler/jobs/lanes/batch_demand.h"
#include "scheduler/jobs/lanes/lane_supply.h"
#include "scheduler/pool/scaling_limits.h"
#include "scheduler/scaling/target_window.h"

namespace navtalk {

struct LaneFleetOptions {
  std::uint64_t seed = 1;
  int most = 0;                                    // 0: none
  double lead_s = 90, lead_sigma = 0.4;            // cold starts: lognormal, this median
  Duration hold_down = ScalingLimits{}.hold_down;  // the lane holds slots for as long
};

struct LaneFree {
  int free = 0;  // of all slots
  int left = 0;  // of those that are always there, by users
};

class LaneFleet {
 public:
  LaneFleet(const LaneFleetOptions& options, TimePoint from)
      : options_(options), estimator_(from) {}

  // When the next GPU is ready; TimePoint::max() if none starts.
  TimePoint next() const;
  // How many have become ready by `now`.
  int ready(TimePoint now);
  // Starts what the work wants; how many free GPUs end, since it wants less.
  int turn(const LaneWork& work, double rate, const LaneFree& slots, TimePoint now);

  // Of the lane, with `left` slots of those that are always there, as of the last turn.
  LaneSupply supply(int left) const;
  bool any() const { return ready_ > 0 || !starting_.empty(); }
  int starts() const { return starts_; }
  int most() const { return most_; }

 private:
  struct Start {
    TimePoint ready_at{}, begun_at{};
    bool operator>(const Start& other) const { return ready_at > other.ready_at; }
  };

  LaneFleetOptions options_;
  DemandEstimator estimator_;
  OfflineDemand demand_{};
  Duration cold_start_{};
  TargetWindow wanted_{};
  std::priority_queue<Start, std::vector<Start>, std::greater<>> starting_{};
  int ready_ = 0, starts_ = 0, most_ = 0;
};

}  // namespace navtalk
