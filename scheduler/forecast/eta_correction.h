// What promised ETAs teach: the factor on promises with which nine in ten hold, within 1 .. 4. Each
// promise that broke lengthens the next ones, each that held shortens them a ninth as much. The
// promises that were shown are corrected already, so a quantile of actual over promised waits would
// find nothing to correct.
#pragma once

#include <map>
#include <span>

#include "scheduler/pool/pool_store.h"

namespace navtalk {

// The factor after these promises, oldest first. Those without an outcome teach nothing.
double eta_correction(std::span<const Promise> promises);

// The same for the promises of the last day, without reading them again: each is read once, when its
// outcome is known. What a run of promises does to the factor's logarithm is one function of it, kept
// for every ten seconds of the day:
//
//   x ──► clamp(x + shift, least, most)
//
// So an outcome that becomes known late still counts at the time of its promise. Not thread-safe, one
// owner.
class EtaCorrection {
 public:
  static constexpr Duration k_window = std::chrono::hours(24);
  static constexpr Duration k_bucket = std::chrono::seconds(10);

  // Adds the outcomes that became known since the last reading, and forgets the promises that were
  // made before the window. A clock that was set back reads the window again.
  void read(PoolStore& store, TimePoint now);
  // As eta_correction() of the window's promises by the time at which they were made, to a bucket,
  // then by outcome.
  double factor() const;

  struct Run {
    double shift = 0, least = 0, most = 0;
  };

 private:
  std::map<TimePoint, Run> runs_;  // by the start of the bucket
  TimePoint known_until_{};        // outcomes up to here are in
};

}  // namespace navtalk
