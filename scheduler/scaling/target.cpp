// The law: how many slots there should be. docs/scaling.md derives the formulas.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "scheduler/forecast/erlang.h"
#include "scheduler/forecast/normal.h"
#include "scheduler/scaling/plan.h"

namespace navtalk {
namespace {

constexpr int k_no_limit = std::numeric_limits<int>::max();
constexpr double k_floor_chance = 0.2;

// What can be had from one source by one operation, and how fast.
struct Tier {
  double lead_s = 0;
  int slots = 0;
};
struct Tiers {
  std::array<Tier, 4> all{};
  std::size_t count = 0;

  // Keeps the fastest first.
  void add(double lead_s, int slots) {
    if (slots <= 0) return;
    std::size_t at = count++;
    for (; at > 0 && all[at - 1].lead_s > lead_s; --at) all[at] = all[at - 1];
    all[at] = {lead_s, slots};
  }
};

int paused_slots(const Snapshot& snapshot, bool local) {
  int slots = 0;
  for (const Gpu& gpu : snapshot.gpus) {
    const bool wakeable = gpu.state == State::paused && shared(gpu);
    if (wakeable && (gpu.source == Source::cloud) != local) slots += gpu.slots;
  }
  return slots;
}

// A wake that fails costs its time and then a creation.
double wake_lead_s(const LeadTime& wake, const LeadTime& create) {
  return wake.success_rate * in_seconds(wake.p90) +
         (1 - wake.success_rate) * (in_seconds(wake.p90) + in_seconds(create.p90));
}

// The ways to more slots, the fastest first.
Tiers tiers(const Snapshot& snapshot, const ScalingLimits& limits, const Census& census) {
  const Demand& demand = snapshot.demand;
  const auto lead = [&](Source source) { return in_seconds(demand.create_at(source).p90); };
  const auto slots = [&](Source source) {
    const SourceState& state = snapshot.sources[static_cast<std::size_t>(source)];
    return state.available ? state.room_slots() : 0;
  };
  Tiers tiers;
  if (census.paused > 0) {
    tiers.add(wake_lead_s(demand.wake_at(Source::local), demand.create_at(Source::local)),
              paused_slots(snapshot, true));
  }
  tiers.add(lead(Source::local), slots(Source::local));
  if (snapshot.memory.cloud_on || limits.cloud == CloudSwitch::on) {
    if (census.paused > 0) {
      tiers.add(wake_lead_s(demand.wake_at(Source::cloud), demand.create_at(Source::cloud)),
                paused_slots(snapshot, false));
    }
    tiers.add(lead(Source::cloud), slots(Source::cloud));
  }
  return tiers;
}

// By the hour's clock, of the minutes that begin within the horizon.
Foretold foretold_within(const Demand& demand, double horizon_s) {
  Foretold sum;
  for (std::size_t i = 0; i < demand.ahead.size(); ++i) {
    const double begins_s = i == 0 ? 0 : demand.minute_left_s + 60 * static_cast<double>(i - 1);
    if (begins_s >= horizon_s) break;
    sum.users += demand.ahead[i].users;
    sum.variance += demand.ahead[i].variance;
  }
  return sum;
}

// Of the busy ones exp(-H/S) still are after H; new ones come at the rate, in clumps, and by the
// clock.
Outlook outlook(const Demand& demand, int busy, double horizon_s) {
  const double stay = std::exp(-horizon_s / demand.session_s);
  const double fresh = demand.rate_per_s * demand.session_s * (1 - stay);
  const Foretold more = foretold_within(demand, horizon_s);
  const double variance = busy * stay * (1 - stay) + demand.clumping * fresh + more.variance;
  return {.horizon_s = horizon_s,
          .mean = busy * stay + fresh + more.users,
          .deviation = std::sqrt(variance)};
}

// Half a slot: what comes in whole ones is never certain.
double at_least_half(double deviation) { return std::hypot(deviation, 0.5); }

// Above the mean: the normal quantile z, and (z^2-1)/6 for the skew of counts (Cornish and Fisher);
// in its place, as far as it can be trusted, what was learnt.
int slots_for(const Outlook& expected, int busy, double z, const Headroom::Learnt& learnt) {
  const double normal = z * expected.deviation + (z * z - 1) / 6;
  const double known = learnt.deviations * at_least_half(expected.deviation);
  const double slots = expected.mean + learnt.trust * known + (1 - learnt.trust) * normal;
  return std::max(busy + 1, static_cast<int>(std::ceil(slots - 1e-9)));
}

// Hot slots have to last until the next way to more has delivered: for each way its own forecast,
// less what faster ways bring.
void want_by_forecast(const Snapshot& snapshot, const ScalingLimits& limits, const Census& census,
                      Wanted& wanted) {
  const Demand& demand = snapshot.demand;
  const double z = normal_quantile(1 - limits.wait_probability);
  Tiers ways = tiers(snapshot, limits, census);
  if (ways.count == 0) ways.add(in_seconds(demand.create_at(Source::local).p90), 1);
  const int busy = census.busy + snapshot.queued;
  const auto expected = [&](const Tier& way) {
    return outlook(demand, busy, way.lead_s + in_seconds(limits.tick));
  };
  wanted.slowest = expected(ways.all[ways.count - 1]);
  wanted.slowest.deviation = at_least_half(wanted.slowest.deviation);
  wanted.learnt =
      snapshot.memory.headroom.learnt(wanted.slowest.deviation, limits.wait_probability);
  int covered = 0;
  for (std::size_t i = 0; i < ways.count; ++i) {
    const Outlook here = expected(ways.all[i]);
    const int slots = slots_for(here, busy, z, wanted.learnt);
    if (slots - covered > wanted.forecast) {
      wanted.forecast = slots - covered;
      wanted.horizon_s = here.horizon_s;
      wanted.mean = here.mean;
      wanted.deviation = here.deviation;
      wanted.foretold = foretold_within(demand, here.horizon_s).users;
    }
    covered += ways.all[i].slots;
  }
}

// A pool of fewer would let one user in five wait if it never grew.
int floor_of(const Demand& demand, const ScalingLimits& limits) {
  return least_servers(demand.slow_per_s * demand.session_s,
                       std::max(limits.wait_probability, k_floor_chance));
}

bool surges(const Snapshot& snapshot, const ScalingLimits& limits, TimePoint now) {
  const Demand& demand = snapshot.demand;
  constexpr int k_least_arrivals = 4;  // two users within a minute are no surge
  return snapshot.queued > 0 || snapshot.memory.surge_until > now ||
         (demand.last_minute >= k_least_arrivals &&
          demand.last_minute > limits.surge_factor * demand.slow_per_s * 60);
}

int highest(const Snapshot& snapshot, TimePoint since) {
  int target = 0;
  for (const TimedTarget& recent : snapshot.recent) {
    if (recent.at >= since) target = std::max(target, recent.target);
  }
  return target;
}

}  // namespace

Wanted wanted(const Snapshot& snapshot, const ScalingLimits& limits, const Census& census,
              TimePoint now) {
  const int busy = census.busy + snapshot.queued;
  Wanted wanted;
  if (limits.policy == ScalingPolicy::adaptive) {
    want_by_forecast(snapshot, limits, census, wanted);
    wanted.floor = floor_of(snapshot.demand, limits);
    wanted.least = std::max(wanted.forecast, wanted.floor);
  }
  wanted.least = std::max(wanted.least, busy + limits.min_free);
  const int ceiling =
      limits.max_free ? busy + std::max(*limits.max_free, limits.min_free) : k_no_limit;
  wanted.least = std::min(wanted.least, ceiling);
  wanted.most = ceiling;
  if (limits.policy == ScalingPolicy::adaptive) {
    wanted.surge = surges(snapshot, limits, now);
    const int held = highest(snapshot, now - limits.hold_down);
    wanted.held = held > wanted.least;
    wanted.most = wanted.surge ? ceiling : std::min(ceiling, std::max(wanted.least, held));
  }
  if (!snapshot.demand.history_ready) wanted.most = k_no_limit;
  return wanted;
}

}  // namespace navtalk
