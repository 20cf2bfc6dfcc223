// What other systems do, as policies for the simulator: each chooses a number of slots, and the
// rules of decide.h carry it out. Not part of the product. Knobs: see k_rivals in sweep.cpp.
#pragma once

#include <string_view>

#include "scheduler/scaling/plan.h"

namespace navtalk {

// A policy of the simulator and its setting.
struct Strategy {
  enum class Kind : std::uint8_t {
    fixed,        // `knob` slots, always
    counts,       // the shipped static law: MIN = knob, FREE = second
    buffer,       // Agones: knob free ones, looked at every 30 s
    buffer_hold,  // the same every 5 s, down to the highest of 15 min
    utilisation,  // KEDA: busy / knob, at least `second`, every 30 s, down to the highest of 300 s
    sqrt_hold,    // busy + knob sqrt(busy), every 5 s, down to the highest of 15 min
    adaptive,     // the shipped adaptive law: wait probability = knob
    oracle,       // knows every arrival: simulator/oracle.h
  };
  Kind kind = Kind::adaptive;
  double knob = 0.01, second = 0;

  bool shipped() const { return kind == Kind::counts || kind == Kind::adaptive; }
  friend bool operator==(const Strategy&, const Strategy&) = default;
};

// How often a rival looks, and how long it holds a higher number.
struct Rhythm {
  Duration period{}, hold{};
};
Rhythm rhythm(Strategy::Kind kind);

// The number of slots, waiting users counted as busy ones.
int rival_target(const Strategy& strategy, int busy_and_queued);

}  // namespace navtalk
