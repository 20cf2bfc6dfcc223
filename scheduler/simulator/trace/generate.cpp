#include "scheduler/simulator/trace/generate.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "scheduler/simulator/random.h"

namespace navtalk {
namespace {

constexpr double k_day_s = 24 * 3600;
constexpr double k_step_s = 10;  // the rate is constant over it

// The hours of a day: trough at four in the morning, a fifth of the peak.
double hours(double at_s) {
  const double phase = 2 * std::numbers::pi * (at_s / k_day_s - 4.0 / 24);
  return 1 - 2.0 / 3 * std::cos(phase);
}

double week(double at_s) { return static_cast<int>(at_s / k_day_s) % 7 >= 5 ? 0.4 : 1; }

// The rate over time, in relative terms, one value a step.
std::vector<double> shape(const GenerateOptions& options, Random& random) {
  std::vector<double> rates(static_cast<std::size_t>(options.days * k_day_s / k_step_s));
  double until = 0, begun = 0, before = 0, factor = 0;  // factors as logarithms
  for (std::size_t i = 0; i < rates.size(); ++i) {
    const double at_s = static_cast<double>(i) * k_step_s;
    if (options.load == Load::smooth) {
      rates[i] = 1;
      continue;
    }
    rates[i] = hours(at_s);
    if (options.load != Load::bursty) continue;
    if (at_s >= until) {
      before = factor;
      begun = at_s;
      until = at_s + random.exponential(options.episode_s);
      factor = options.episode_sigma * random.normal();
    }
    const double part = options.ramp_s > 0 ? std::min(1.0, (at_s - begun) / options.ramp_s) : 1;
    rates[i] *= week(at_s) * std::exp(before + (factor - before) * part);
  }
  return rates;
}

}  // namespace

std::optional<Load> parse_load(std::string_view text) {
  if (text == "smooth") return Load::smooth;
  if (text == "diurnal") return Load::diurnal;
  if (text == "bursty") return Load::bursty;
  return std::nullopt;
}

Trace generate(const GenerateOptions& options) {
  Random episodes(options.seed, 1), arrivals(options.seed, 2), groups(options.seed, 3),
      lengths(options.seed, 4);
  std::vector<double> rates = shape(options, episodes);
  double sum = 0;
  for (const double rate : rates) sum += rate;
  const double group_share = options.load == Load::bursty ? options.group_share : 0;
  // Of every session that comes by itself or leads a group, some bring others along.
  const double leaders =
      options.sessions * (1 - group_share) + options.sessions * group_share / options.group_size;
  const double lead_probability = options.sessions * group_share / options.group_size / leaders;
  Trace trace;
  const double session_median_s =
      options.session_s * std::exp(-options.spread * options.spread / 2);
  const auto add = [&](double at_s) {
    trace.push_back(
        {from_seconds(at_s), from_seconds(lengths.lognormal(session_median_s, options.spread))});
  };
  // The rate's integral up to the next arrival is exponential.
  double left = arrivals.exponential(1);
  for (std::size_t i = 0; i < rates.size(); ++i) {
    const double rate = rates[i] / sum * leaders;  // per step
    double used = 0;
    while (left <= rate * (1 - used)) {
      used += left / rate;
      const double at_s = (static_cast<double>(i) + used) * k_step_s;
      add(at_s);
      if (groups.uniform() < lead_probability) {
        const auto others = static_cast<int>(std::lround(options.group_size)) - 1;
        for (int n = 0; n < others; ++n) add(at_s + groups.exponential(options.group_s));
      }
      left = arrivals.exponential(1);
    }
    left -= rate * (1 - used);
  }
  std::sort(trace.begin(), trace.end(),
            [](const auto& a, const auto& b) { return a.arrival < b.arrival; });
  return trace;
}

}  // namespace navtalk
