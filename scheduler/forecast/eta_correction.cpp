#include "scheduler/forecast/eta_correction.h"

#include <algorithm>
#include <cmath>

#include "scheduler/forecast/wait_estimate.h"

namespace navtalk {
namespace {

constexpr double k_most_correction = 4;

double bounded(double log_factor) {
  return std::clamp(log_factor, 0.0, std::log(k_most_correction));
}

// How far a promise whose outcome is known moves the factor's logarithm: it settles where nine in
// ten hold.
double step(const Promise& promise) {
  constexpr double k_step = 0.1;
  const bool broke = *promise.actual > promise.promised;
  return k_step * ((broke ? 1.0 : 0.0) - (1 - k_promise));
}

// The run that changes nothing.
EtaCorrection::Run no_promises() { return {.shift = 0, .least = 0, .most = bounded(INFINITY)}; }

void append(EtaCorrection::Run& run, double step) {
  run = {.shift = run.shift + step,
         .least = bounded(run.least + step),
         .most = bounded(run.most + step)};
}

TimePoint bucket_of(TimePoint at) {
  return TimePoint(at.time_since_epoch() / EtaCorrection::k_bucket * EtaCorrection::k_bucket);
}

}  // namespace

double eta_correction(std::span<const Promise> promises) {
  double log_factor = 0;
  for (const Promise& promise : promises) {
    if (promise.actual) log_factor = bounded(log_factor + step(promise));
  }
  return std::exp(log_factor);
}

void EtaCorrection::read(PoolStore& store, TimePoint now) {
  const TimePoint begin = bucket_of(now - k_window);
  if (now < known_until_) *this = {};
  known_until_ = std::max(known_until_, begin - Duration(1));
  for (const Promise& promise : store.promises({.known_after = known_until_})) {
    append(runs_.try_emplace(bucket_of(promise.made_at), no_promises()).first->second,
           step(promise));
    known_until_ = promise.made_at + *promise.actual;
  }
  runs_.erase(runs_.begin(), runs_.lower_bound(begin));
}

double EtaCorrection::factor() const {
  double log_factor = 0;
  for (const auto& [begin, run] : runs_) {
    log_factor = std::clamp(log_factor + run.shift, run.least, run.most);
  }
  return std::exp(log_factor);
}

}  // namespace navtalk
