// How a start ends in the simulator: drawn from the seed and the number of the attempt, so that every
// policy meets the same outcomes. Pure.
#pragma once

#include "scheduler/pool/gpu.h"
#include "scheduler/simulator/simulator.h"

namespace navtalk {

struct StartOutcome {
  enum class Kind : std::uint8_t {
    ready,
    no_capacity,   // refused at once
    fails,         // breaks while it starts
    hangs,         // never ready
    unknown,       // the call failed, but the GPU starts
    unknown_none,  // the call failed, and there is no GPU
  };
  Kind kind = Kind::ready;
  Duration after{};  // from the call to ready (unknown: if the answer had come) or to the failure
};

inline constexpr Duration k_call = std::chrono::seconds(2);  // until a provider answers

StartOutcome start_outcome(const SimulatorOptions& options, Source source, Operation operation,
                           std::uint64_t number);
// From ready to its crash; nullopt: never.
std::optional<Duration> crash_after(const SimulatorOptions& options, std::uint64_t number);

}  // namespace navtalk
