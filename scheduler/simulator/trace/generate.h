// Traces made by a seed: the loads on which the scaler is tuned and tested. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "scheduler/simulator/trace/trace.h"

namespace navtalk {

enum class Load : std::uint8_t {
  smooth,   // Poisson at a constant rate
  diurnal,  // Poisson, the rate follows the hours of a day, its peak five times its trough
  bursty,  // diurnal, weekends low, times a rate that jumps: hours of calm, bursts of tens of minutes
};
std::optional<Load> parse_load(std::string_view text);

struct GenerateOptions {
  Load load = Load::bursty;
  double days = 23;
  double sessions = 27000;  // expected
  double session_s = 300;   // mean
  double spread = 0.8;      // of the session's length: sigma of a lognormal
  // bursty: how uneven the rate is. Episodes last `episode_s` on average; within each the rate is
  // multiplied by a lognormal of this sigma, which is reached
  // over `ramp_s`. A share of users comes in groups.
  double episode_s = 2400, episode_sigma = 1.15, ramp_s = 600;
  double group_share = 0.05, group_size = 4, group_s = 20;
  std::uint64_t seed = 1;
};

Trace generate(const GenerateOptions& options);

}  // namespace navtalk
