// Hours of a simulated pool: those paid for, and those in use by sessions.
#pragma once

#include "scheduler/pool/gpu.h"
#include "scheduler/simulator/simulator.h"

namespace navtalk {

class Cost {
 public:
  // Time passes with `busy` slots in use.
  void advance(Duration passed, int busy) {
    const auto us = static_cast<double>(passed.count());
    local_us_ += us * local_;
    cloud_us_ += us * cloud_;
    leaked_us_ += us * leaked_;
    busy_us_ += us * busy;
  }
  void starts(Source source) { ++instances(source); }
  void ends(Source source) { --instances(source); }
  // A row was given up whose instance goes on being paid.
  void leaks() { ++leaked_, ++cloud_; }

  void report(SimulatorResult& result, double usd_per_hour) const {
    constexpr double k_hour_us = 3600e6;
    result.gpu_hours = (local_us_ + cloud_us_) / k_hour_us;
    result.cloud_gpu_hours = cloud_us_ / k_hour_us;
    result.usd = result.cloud_gpu_hours * usd_per_hour;
    result.leaked_gpu_hours = leaked_us_ / k_hour_us;
    result.busy_hours = busy_us_ / k_hour_us;
  }

 private:
  int& instances(Source source) { return source == Source::cloud ? cloud_ : local_; }

  int local_ = 0, cloud_ = 0, leaked_ = 0;  // instances now
  double local_us_ = 0, cloud_us_ = 0, leaked_us_ = 0, busy_us_ = 0;
};

}  // namespace navtalk
