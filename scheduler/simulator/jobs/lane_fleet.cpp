#include "scheduler/simulator/jobs/lane_fleet.h"

#include <algorithm>
#include <cmath>

#include "scheduler/simulator/random.h"

namespace navtalk {
namespace {

constexpr std::uint64_t k_cold_starts = 0xC01D;  // their stream of random numbers

}  // namespace

TimePoint LaneFleet::next() const {
  return starting_.empty() ? TimePoint::max() : starting_.top().ready_at;
}

int LaneFleet::ready(TimePoint now) {
  int count = 0;
  for (; !starting_.empty() && starting_.top().ready_at <= now; ++count) {
    const Start start = starting_.top();
    starting_.pop();
    estimator_.attempted({.at = now,
                          .source = Source::cloud,
                          .operation = Operation::create,
                          .took = start.ready_at - start.begun_at});
  }
  ready_ += count;
  return count;
}

int LaneFleet::turn(const LaneWork& work, double rate, const LaneFree& slots, TimePoint now) {
  if (options_.most == 0) return 0;
  cold_start_ = estimator_.demand(now).create_at(Source::cloud).p90;
  demand_ = demand_after(demand_, work,
                         {.max_gpus = options_.most,
                          .rate = rate,
                          .cold_start = cold_start_,
                          .hold = options_.hold_down,
                          .left = slots.left},
                         now);
  const int wanted = wanted_slots(demand_, now);
  const int there = ready_ + static_cast<int>(starting_.size());
  for (int i = there; i < wanted; ++i) {
    const double z = normal_quantile(
        uniform(options_.seed, k_cold_starts, static_cast<std::uint64_t>(starts_++)));
    const double took_s = options_.lead_s * std::exp(options_.lead_sigma * z);
    starting_.push({.ready_at = now + from_seconds(took_s), .begun_at = now});
  }
  most_ = std::max(most_, std::max(there, wanted));
  wanted_.forget(now - options_.hold_down);
  wanted_.add(now, wanted);
  const int surplus = there - wanted_.targets().front().target;
  const int ended = std::max(std::min({surplus, ready_, slots.free}), 0);
  ready_ -= ended;
  return ended;
}

LaneSupply LaneFleet::supply(int left) const {
  LaneSupply supply{.ready = left + ready_,
                    .starting = static_cast<int>(starting_.size()),
                    .most = left + options_.most,
                    .cold_start = cold_start_};
  if (!starting_.empty()) supply.next_at = starting_.top().begun_at + cold_start_;
  return supply;
}

}  // namespace navtalk
