#include "scheduler/simulator/waits.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "scheduler/forecast/eta_correction.h"

namespace navtalk {
namespace {

constexpr std::size_t k_promises_kept = 200;

}  // namespace

std::int32_t Waits::promise(TimePoint now, Duration p90) {
  promises_.push_back({.made_at = now, .promised = p90});
  return static_cast<std::int32_t>(promises_.size()) - 1;
}

void Waits::served(std::int32_t promise, TimePoint now) {
  Promise& made = promises_[static_cast<std::size_t>(promise)];
  made.actual = now - made.made_at;
  ++scored_;
  if (*made.actual <= made.promised) ++held_;
  const std::size_t kept = std::min(promises_.size(), k_promises_kept);
  eta_correction_ = navtalk::eta_correction(std::span(promises_).last(kept));
}

void Waits::report(SimulatorResult& result, std::size_t sessions) const {
  std::vector<double> waits = waits_s_;
  std::sort(waits.begin(), waits.end());
  const auto n = static_cast<double>(sessions);
  const auto quantile = [&](double q) {
    const double from_end = n - std::ceil(q * n);
    return from_end < static_cast<double>(waits.size())
               ? waits[waits.size() - 1 - static_cast<std::size_t>(from_end)]
               : 0.0;
  };
  result.p50_wait_s = quantile(0.5);
  result.p99_wait_s = quantile(0.99);
  for (const double wait : waits) result.mean_wait_s += wait / static_cast<double>(waits.size());
  result.promises = scored_;
  if (scored_ > 0) result.eta_coverage = static_cast<double>(held_) / scored_;
}

}  // namespace navtalk
