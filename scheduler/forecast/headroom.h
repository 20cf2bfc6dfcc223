// How far above its forecast the pool has to be, learned from how far above it the need was: the
// distribution of forecast errors, in place of a normal one. A value that each tick hands to
// the next (ScalerMemory), so that it outlives processes. Pure, not thread-safe.
//
//   tick at t         forecast (mean m, deviation d) for the slowest way to more slots ──► made
//   users at t + lag  each would have waited below n slots: r = (n - m) / d^shape ──► beyond
//
// The errors may grow with the deviation (shape 1: rates that move), not at all (shape 0: batches,
// whose size does not depend on the load) or between (shape 1/2). For each shape the quantile of r
// is what would have let just the allowed share of users wait; the shape that would have taken the
// fewest slots is used.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/time.h"

namespace navtalk {

// What is expected to be busy within a lead time.
struct Outlook {
  double horizon_s = 0, mean = 0, deviation = 0;
  friend bool operator==(const Outlook&, const Outlook&) = default;
};

// What a tick observes.
struct HeadroomSample {
  int busy = 0;           // sessions and waiting users
  double fast_per_s = 0;  // Demand::fast_per_s: says how many arrived since the last sample
  Outlook outlook{};
};

struct Headroom {
  static constexpr std::size_t k_shapes = 3, k_steps = 48, k_outlooks = 16;
  struct Made {
    TimePoint at{};
    Outlook outlook{};
    friend bool operator==(const Made&, const Made&) = default;
  };
  struct Learned {
    double deviations = 0;  // above the mean
    double trust = 0;       // 0 .. 1: how much of it to believe beside the normal quantile
    double shape = 1;
    friend bool operator==(const Learned&, const Learned&) = default;
  };

  // Users by r, in steps that grow by a fifth; sums over time of deviation^shape. All decay over a
  // month.
  std::array<std::array<double, k_steps>, k_shapes> beyond{};
  std::array<double, k_shapes> sizes{};
  double users = 0;   // in all
  double bursts = 0;  // times that the need was far above the forecast: trust grows with them
  TimePoint burst_at{}, at{};
  int busy = 0;
  double fast_per_s = 0;
  std::array<Made, k_outlooks> made{};  // a ring, the newest at `newest`
  std::size_t newest = 0;
  Learned used{};  // by the last tick, for reports

  // Nothing is learned across a gap of minutes between two samples.
  void observe(TimePoint now, const HeadroomSample& sample);
  // For that deviation. wait_probability in (0, 1/2).
  Learned learned(double deviation, double wait_probability) const;

  friend bool operator==(const Headroom&, const Headroom&) = default;
};

// Numbers separated by blanks, after the form's own; parse reads the older form without `used`,
// too, and gives nullopt for text of another one.
std::string as_text(const Headroom& headroom);
std::optional<Headroom> parse_headroom(std::string_view text);

}  // namespace navtalk
