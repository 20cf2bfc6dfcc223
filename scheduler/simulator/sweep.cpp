#include "scheduler/simulator/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

#include "core/base/check.h"
#include "core/base/error.h"
#include "scheduler/simulator/oracle.h"

namespace navtalk {
namespace {

// A policy's knob, from the setting with the fewest GPUs to the one with the most.
struct Family {
  std::string_view name, knob;
  Strategy::Kind kind;
  double fewest, most;
  bool whole = true;  // whole numbers
  // The second setting in times of the knob, where there is one.
  std::array<double, 3> seconds{};
  std::size_t count = 1;
  bool times_knob = false;
};

using K = Strategy::Kind;
constexpr std::array<Family, 7> k_families = {{
    {.name = "static",
     .knob = "MIN free slots (FREE: 1, 4/3 or 2 times that)",
     .kind = K::static_limits,
     .fewest = 1,
     .most = 256,
     .seconds = {1, 4.0 / 3, 2},
     .count = 3,
     .times_knob = true},
    {.name = "buffer", .knob = "free slots", .kind = K::buffer, .fewest = 1, .most = 256},
    {.name = "buffer-hold", .knob = "free slots", .kind = K::buffer_hold, .fewest = 1, .most = 256},
    {.name = "utilisation",
     .knob = "busy share of slots",
     .kind = K::utilisation,
     .fewest = 0.98,
     .most = 0.02,
     .whole = false},
    {.name = "sqrt-hold",
     .knob = "factor of the root",
     .kind = K::sqrt_hold,
     .fewest = 0.25,
     .most = 20,
     .whole = false},
    {.name = "adaptive",
     .knob = "wait probability asked for",
     .kind = K::adaptive,
     .fewest = 0.5,
     .most = 1e-10,
     .whole = false},
    {.name = "oracle", .knob = "none", .kind = K::oracle, .fewest = 0, .most = 0},
}};

const Family& family_of(Strategy::Kind kind) {
  const auto* const found = std::find_if(k_families.begin(), k_families.end(),
                                         [&](const Family& family) { return family.kind == kind; });
  NAVTALK_CHECK(found != k_families.end());
  return *found;
}

// Between two settings, in their proportions; whole numbers may not have one.
std::optional<double> between(const Family& family, double a, double b) {
  if (!family.whole) {
    const double middle = std::sqrt(a * b);
    return std::abs(std::log(a / b)) < 0.005 ? std::nullopt : std::optional(middle);
  }
  const double low = std::min(a, b), high = std::max(a, b);
  const double middle = std::clamp(std::round(std::sqrt(low * high)), low, high);
  if (middle != low && middle != high) return middle;
  return high - low > 1 ? std::optional(low + 1) : std::nullopt;
}

double mix(double a, double b, double part) { return a + (b - a) * part; }

// Each setting for a part of the time.
SweepRow mixed(const SweepRow& a, const SweepRow& b, double part) {
  SweepRow row = part < 0.5 ? a : b;
  const SimulatorResult &x = a.result, &y = b.result;
  row.knob = mix(a.knob, b.knob, part);
  row.second = mix(a.second, b.second, part);
  const auto set = [&](auto member) { row.result.*member = mix(x.*member, y.*member, part); };
  for (const auto member :
       {&SimulatorResult::p_wait, &SimulatorResult::p50_wait_s, &SimulatorResult::p99_wait_s,
        &SimulatorResult::mean_wait_s, &SimulatorResult::gpu_hours,
        &SimulatorResult::cloud_gpu_hours, &SimulatorResult::usd,
        &SimulatorResult::leaked_gpu_hours, &SimulatorResult::busy_hours,
        &SimulatorResult::reversals_per_h, &SimulatorResult::eta_coverage}) {
    set(member);
  }
  row.result.starts = static_cast<int>(std::lround(mix(x.starts, y.starts, part)));
  return row;
}

SweepRow simulated(const Trace& trace, const Family& family, double knob, double second,
                   const SimulatorOptions& options, const std::stop_token& stop) {
  const double least = family.kind == K::utilisation ? options.utilisation_least : 0;
  const double other = family.times_knob ? std::ceil(second * knob - 1e-9) : least;
  const Strategy strategy{.kind = family.kind, .knob = knob, .second = other};
  return {.policy = std::string(family.name),
          .knob = knob,
          .second = other,
          .result = simulate(trace, strategy, options, stop)};
}

class Search {
 public:
  Search(const Trace& trace, const Family& family, const SimulatorOptions& options, double p_wait,
         const std::stop_token& stop, const Progress& progress)
      : trace_(trace),
        family_(family),
        options_(options),
        p_wait_(p_wait),
        stop_(stop),
        progress_(progress) {}

  // Along the knob for one second setting: halves the interval in which P(wait) crosses the one asked
  // for, as far as the knob or the trace can tell settings apart.
  void along(double second) {
    std::optional<SweepRow> too_many = tried(family_.fewest, second), enough;
    if (too_many->result.p_wait <= p_wait_) return offer(*too_many, true);
    for (int step = 0; step < k_steps; ++step) {
      const double least = enough ? enough->knob : family_.most;
      const auto knob = enough || step > 0 ? between(family_, too_many->knob, least)
                                           : between(family_, family_.fewest, family_.most);
      if (!knob) break;
      SweepRow row = tried(*knob, second);
      const double off = row.result.p_wait - p_wait_;
      (off > 0 ? too_many : enough) = std::move(row);
      // Half a session more or less: no setting can be nearer.
      if (std::abs(off) * static_cast<double>(trace_.size()) <= 0.5) break;
    }
    if (!enough) {
      SweepRow row = tried(family_.most, second);
      if (row.result.p_wait > p_wait_) return offer(row, false);
      enough = std::move(row);
    }
    const double a = too_many->result.p_wait, b = enough->result.p_wait;
    offer(mixed(*too_many, *enough, a > b ? (a - p_wait_) / (a - b) : 1), true);
  }

  Sweep result() {
    std::sort(all_.begin(), all_.end(), [](const SweepRow& a, const SweepRow& b) {
      return std::tie(a.result.p_wait, a.result.gpu_hours) <
             std::tie(b.result.p_wait, b.result.gpu_hours);
    });
    for (SweepRow& row : all_) {
      const bool beaten =
          !best_.frontier.empty() && best_.frontier.back().result.gpu_hours <= row.result.gpu_hours;
      if (!beaten) best_.frontier.push_back(std::move(row));
    }
    return std::move(best_);
  }

 private:
  static constexpr int k_steps = 12;

  SweepRow tried(double knob, double second) {
    if (progress_) progress_(family_.name, all_.size(), 0);
    SweepRow row = simulated(trace_, family_, knob, second, options_, stop_);
    all_.push_back(row);
    return row;
  }

  void offer(const SweepRow& row, bool reaches) {
    const bool better = best_.at_equal.policy.empty() || (reaches && !best_.reached) ||
                        (reaches == best_.reached &&
                         (reaches ? row.result.gpu_hours < best_.at_equal.result.gpu_hours
                                  : row.result.p_wait < best_.at_equal.result.p_wait));
    if (!better) return;
    best_.at_equal = row;
    best_.reached = reaches;
  }

  const Trace& trace_;
  const Family& family_;
  const SimulatorOptions& options_;
  double p_wait_;
  const std::stop_token& stop_;
  const Progress& progress_;
  std::vector<SweepRow> all_{};
  Sweep best_{};
};

}  // namespace

const std::vector<std::string>& policy_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    all.reserve(std::size(k_families));
    for (const Family& family : k_families) all.emplace_back(family.name);
    return all;
  }();
  return names;
}

std::optional<Strategy::Kind> parse_policy(std::string_view name) {
  for (const Family& family : k_families) {
    if (family.name == name) return family.kind;
  }
  return std::nullopt;
}

std::string_view knob_of(std::string_view policy) {
  const auto kind = parse_policy(policy);
  return kind ? family_of(*kind).knob : std::string_view{};
}

void check_knob(Strategy::Kind kind, double knob) {
  const Family& family = family_of(kind);
  if (kind == K::oracle) return;
  const bool share = family.fewest < 1 && family.most < 1;
  const bool fits = share ? knob > 0 && knob < 1
                          : knob > 0 && knob <= 1e6 && (!family.whole || knob == std::round(knob));
  if (fits) return;
  throw Error(Code::usage, fmt::format("--knob {:g} is not a setting of '{}' ({}): give {}", knob,
                                       family.name, family.knob,
                                       share          ? "a number between 0 and 1"
                                       : family.whole ? "a whole number from 1"
                                                      : "a number above 0"));
}

SweepRow one_setting(const Trace& trace, Strategy::Kind kind, double knob,
                     const SimulatorOptions& options, const std::stop_token& stop) {
  const Family& family = family_of(kind);
  return simulated(trace, family, knob, family.seconds[0], options, stop);
}

Sweep sweep(const Trace& trace, Strategy::Kind kind, const SimulatorOptions& options,
            double wait_probability, const std::stop_token& stop, const Progress& progress) {
  const Family& family = family_of(kind);
  if (kind == K::oracle) {
    const SweepRow row{.policy = std::string(family.name), .result = oracle(trace, options)};
    return {.at_equal = row, .reached = true, .frontier = {row}};
  }
  Search search(trace, family, options, wait_probability, stop, progress);
  for (std::size_t i = 0; i < family.count; ++i) search.along(family.seconds.at(i));
  return search.result();
}

}  // namespace navtalk
