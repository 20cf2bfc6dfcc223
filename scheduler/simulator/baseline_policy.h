// Policies of other systems, for comparison in the simulator: each chooses a number of slots, and the
// scaler's rules carry it out. Not part of the product. Knobs: see k_families in sweep.cpp.
#pragma once

#include <cstdint>

#include "core/base/time.h"

namespace navtalk {

// A policy of the simulator and its setting.
struct Strategy {
  enum class Kind : std::uint8_t {
    fixed,          // `knob` slots, always
    static_limits,  // the shipped static policy: MIN = knob, FREE = second
    buffer,         // Agones: knob free ones, looked at every 30 s
    buffer_hold,    // the same every 5 s, down to the highest of 15 min
    utilisation,  // KEDA: busy / knob, at least `second`, every 30 s, down to the highest of 300 s
    sqrt_hold,    // busy + knob sqrt(busy), every 5 s, down to the highest of 15 min
    adaptive,     // the shipped adaptive policy: wait probability = knob
    oracle,       // knows every arrival: simulator/oracle.h
  };
  Kind kind = Kind::adaptive;
  double knob = 0.01, second = 0;

  bool shipped() const { return kind == Kind::static_limits || kind == Kind::adaptive; }
  friend bool operator==(const Strategy&, const Strategy&) = default;
};

// How often a baseline policy decides, and how long it holds a higher number.
struct Cadence {
  Duration period{}, hold{};
};
Cadence cadence_of(Strategy::Kind kind);

// The number of slots, waiting users counted as busy ones.
int baseline_target(const Strategy& strategy, int busy_and_queued);

}  // namespace navtalk
