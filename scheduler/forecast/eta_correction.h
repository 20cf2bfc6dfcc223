// What promised ETAs teach: the factor on promises with which nine in ten hold, within 1 .. 4. Each
// promise that broke lengthens the next ones, each that held shortens them a ninth as much. The
// promises that were shown are corrected already, so a quantile of actual over promised waits would
// find nothing to correct.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

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
// An outcome that becomes known late takes its place among the promises of that time, which are four
// bytes each, and their run is computed again. Not thread-safe, one owner.
class EtaCorrection {
 public:
  static constexpr Duration k_window = std::chrono::hours(24);
  static constexpr Duration k_bucket = std::chrono::seconds(10);

  // Adds the outcomes that became known since the last reading, and forgets the buckets that the
  // window has left. A clock that was set back reads the window again.
  void read(PoolStore& store, TimePoint now);
  // As eta_correction() of these promises.
  double factor() const;

  struct Run {
    double shift = 0, least = 0, most = 0;
  };

 private:
  struct Bucket {
    // In the order of the promises: microseconds from the bucket's start, and in the last bit whether
    // it broke.
    std::vector<std::uint32_t> outcomes{};
    Run run{};
  };

  std::map<TimePoint, Bucket> buckets_;  // by their start
  TimePoint known_until_{};              // outcomes up to here are in
};

}  // namespace navtalk
