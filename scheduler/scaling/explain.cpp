#include "scheduler/scaling/explain.h"

#include <fmt/format.h>

#include <array>

namespace navtalk {
namespace {

constexpr std::array<std::string_view, 7> k_kinds = {"wake", "create",       "pause", "destroy",
                                                     "fail", "clear-failed", "drain"};

std::string slots(int count) { return fmt::format("{} slot{}", count, count == 1 ? "" : "s"); }

std::string capacity_line(const Plan& plan) {
  const Capacity& capacity = plan.capacity;
  return fmt::format(
      "capacity: {}: {} busy, {} free, {} starting; {} held by failed GPUs, {} paused",
      slots(capacity.supply()), capacity.busy, capacity.free, capacity.starting, capacity.holding,
      capacity.paused);
}

std::string recurring_part(const Target& target) {
  if (target.recurring <= 0) return {};
  return fmt::format(", {:.1f} of them from arrivals that recur every hour", target.recurring);
}

std::string target_line(const Target& target, const Demand& demand, const ScalingLimits& limits,
                        ScalingPolicy policy) {
  if (policy == ScalingPolicy::static_limits) {
    return fmt::format("static target: {}", slots(target.least));
  }
  return fmt::format(
      "adaptive target: {}: forecast {} ({:.1f} +- {:.1f} busy within {:.0f} s{}), Erlang floor "
      "{}; "
      "{:.2f} users/min, sessions of {:.0f} s, dispersion {:.1f}, P(wait) {:.2g}; "
      "learned headroom {:.1f} deviations, trust {:.0f} %",
      slots(target.least), target.forecast, target.mean, target.deviation, target.horizon_s,
      recurring_part(target), target.floor, demand.rate_per_s * 60, demand.session_s,
      demand.dispersion, limits.wait_probability, target.learned.deviations,
      target.learned.trust * 100);
}

std::string_view why_kept(const Plan& plan, const Demand& demand) {
  if (!demand.history_ready) return "nothing is removed: the history is not loaded yet";
  if (plan.target.surge) return "nothing is removed: users wait, or arrive faster than usual";
  if (plan.target.held) return "held at the highest target of the recent past";
  return {};
}

std::string described(const Action& action) {
  if (action.kind == Action::Kind::create) return fmt::format("create {}", name(action.source));
  return fmt::format("{} {}", name(action.kind), action.gpu.text);
}

}  // namespace

std::string_view name(Action::Kind kind) { return k_kinds.at(static_cast<std::size_t>(kind)); }

std::vector<std::string> explain(const Plan& plan, const ScalingLimits& limits,
                                 const Demand& demand) {
  std::vector<std::string> lines = {target_line(plan.target, demand, limits, limits.policy),
                                    capacity_line(plan)};
  if (const auto kept = why_kept(plan, demand); !kept.empty()) lines.emplace_back(kept);
  if (plan.kept > 0) {
    lines.push_back(fmt::format("{} more than needed: used, or ready, for less than {:.0f} s",
                                slots(plan.kept), in_seconds(limits.hold_down)));
  }
  if (limits.cloud == CloudSwitch::automatic) {
    lines.push_back(fmt::format("the cloud is switched {}", plan.cloud ? "on" : "off"));
  }
  for (const Action& action : plan.actions) {
    lines.push_back(fmt::format("{}: {}", described(action), action.why));
  }
  if (plan.missing > 0) {
    lines.push_back(fmt::format("{} missing: {}", slots(plan.missing), name(plan.blocked_by)));
  }
  if (plan.shadow && limits.shadow) {
    lines.push_back("shadow: " + target_line(*plan.shadow, demand, limits, *limits.shadow));
  }
  return lines;
}

std::string summary(const Plan& plan) {
  std::string text;
  for (const Action& action : plan.actions) {
    if (!text.empty()) text += "; ";
    text += described(action);
  }
  return text;
}

}  // namespace navtalk
