// Policies compared at equal P(wait): each one's own knob is searched until its users wait as often as
// asked for, on the same trace and with the same random draws.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/progress.h"
#include "scheduler/simulator/simulator.h"

namespace navtalk {

struct SweepRow {
  std::string policy;
  double knob = 0, second = 0;  // see Strategy
  SimulatorResult result{};
};

struct Sweep {
  // At the P(wait) asked for: between the two settings next to it, as if each ran for a part of the
  // time. Where no setting reaches it, the nearest one.
  SweepRow at_equal;
  bool reached = false;
  std::vector<SweepRow> frontier;  // every setting that no other one beats, by P(wait)
};

// static, buffer, buffer-hold, utilisation, sqrt-hold, adaptive, oracle.
const std::vector<std::string>& policy_names();
// What the policy's knob is, in a few words.
std::string_view knob_of(std::string_view policy);
std::optional<Strategy::Kind> parse_policy(std::string_view name);

// Error{usage} where the policy has no such setting.
void check_knob(Strategy::Kind kind, double knob);

// One run at that knob; of a second knob the first choice.
SweepRow one_setting(const Trace& trace, Strategy::Kind kind, double knob,
                     const SimulatorOptions& options, const std::stop_token& stop = {});

Sweep sweep(const Trace& trace, Strategy::Kind kind, const SimulatorOptions& options,
            double wait_probability, const std::stop_token& stop = {},
            const Progress& progress = {});

}  // namespace navtalk
