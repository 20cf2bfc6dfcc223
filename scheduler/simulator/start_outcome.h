// What becomes of a GPU that is asked for in the simulator: drawn from the seed and the number of
// the attempt, so that every policy meets the same luck. Pure.
#pragma once

#include "scheduler/simulator/simulator.h"

namespace navtalk {

struct Fate {
  enum class Kind : std::uint8_t {
    ready,
    no_capacity,   // refused at once
    fails,         // breaks while it starts
    hangs,         // never ready
    unclear,       // the call failed, the GPU comes nevertheless
    unclear_none,  // the call failed, and there is no GPU
  };
  Kind kind = Kind::ready;
  Duration after{};  // from the call to ready (unclear: had one known) or to the failure
};

inline constexpr Duration k_call = std::chrono::seconds(2);  // until a provider answers

Fate fate(const SimulatorOptions& options, Source source, Operation operation,
          std::uint64_t number);
// From ready to its crash; nullopt: never.
std::optional<Duration> crash_after(const SimulatorOptions& options, std::uint64_t number);

}  // namespace navtalk
