// How long simulated users waited, and whether the ETAs that they were shown held.
#pragma once

#include <vector>

#include "scheduler/forecast/wait_estimate.h"
#include "scheduler/simulator/simulator.h"

namespace navtalk {

class Waits {
 public:
  void add(Duration wait) { waits_s_.push_back(in_seconds(wait)); }
  // Records a promise; its index is for served().
  std::int32_t promise(TimePoint now, Duration p90);
  void served(std::int32_t promise, TimePoint now);
  double eta_correction() const { return eta_correction_; }  // what the latest promises teach

  // Quantiles over `sessions`; who is not in the list waited 0.
  void report(SimulatorResult& result, std::size_t sessions) const;

 private:
  std::vector<double> waits_s_{};
  std::vector<Promise> promises_{};
  double eta_correction_ = 1;
  int scored_ = 0, held_ = 0;
};

}  // namespace navtalk
