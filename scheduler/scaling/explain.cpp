// A plan in words, for --dry-run, the log and the decision's record.
#include <fmt/format.h>

#include <array>
#include <limits>

#include "scheduler/scaling/plan.h"

namespace navtalk {
namespace {

constexpr std::array<std::string_view, 8> k_kinds = {"wake", "create",       "pause", "destroy",
                                                     "fail", "clear-failed", "probe", "drain"};

std::string slots(int count) { return fmt::format("{} slot{}", count, count == 1 ? "" : "s"); }

std::string state_line(const Plan& plan) {
  const Census& census = plan.census;
  return fmt::format("{} there: {} busy, {} free, {} starting; {} held by failed GPUs, {} paused",
                     slots(census.supply()), census.busy, census.free, census.starting,
                     census.holding, census.paused);
}

std::string by_the_clock(const Wanted& wanted) {
  if (wanted.foretold <= 0) return {};
  return fmt::format(", {:.1f} of them since they come at this minute of every hour",
                     wanted.foretold);
}

std::string target_line(const Wanted& wanted, const Demand& demand, const ScalingLimits& limits,
                        ScalingPolicy policy) {
  if (policy == ScalingPolicy::static_limits)
    return fmt::format("static wants {}", slots(wanted.least));
  return fmt::format(
      "adaptive wants {}: forecast {} ({:.1f} +- {:.1f} busy within {:.0f} s{}), Erlang floor {}; "
      "{:.2f} users/min, sessions of {:.0f} s, clumping {:.1f}, P(wait) {:.2g}; "
      "headroom of {:.1f} deviations learnt, trusted to {:.0f} %",
      slots(wanted.least), wanted.forecast, wanted.mean, wanted.deviation, wanted.horizon_s,
      by_the_clock(wanted), wanted.floor, demand.rate_per_s * 60, demand.session_s, demand.clumping,
      limits.wait_probability, wanted.learnt.deviations, wanted.learnt.trust * 100);
}

std::string_view why_kept(const Plan& plan, const Demand& demand) {
  if (!demand.history_ready) return "nothing is taken away: the history is not known yet";
  if (plan.wanted.surge) return "nothing is taken away: users come faster than lately, or wait";
  if (plan.wanted.held) return "held at the highest target of the recent past";
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
  std::vector<std::string> lines = {target_line(plan.wanted, demand, limits, limits.policy),
                                    state_line(plan)};
  if (const auto kept = why_kept(plan, demand); !kept.empty()) lines.emplace_back(kept);
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
