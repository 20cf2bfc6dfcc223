#include "scheduler/scaling/target.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "scheduler/forecast/erlang.h"
#include "scheduler/forecast/normal.h"

namespace navtalk {
namespace {

constexpr int k_no_limit = std::numeric_limits<int>::max();
constexpr double k_floor_chance = 0.2;

// How many slots one operation at one source can add, and how fast.
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

// A wake that fails costs its own time and that of a creation after it.
double wake_lead_s(const LeadTime& wake, const LeadTime& create) {
  return wake.success_rate * in_seconds(wake.p90) +
         (1 - wake.success_rate) * (in_seconds(wake.p90) + in_seconds(create.p90));
}

// The ways to more slots, the fastest first.
Tiers tiers(const Snapshot& snapshot, const ScalingLimits& limits, const Capacity& capacity) {
  const Demand& demand = snapshot.demand;
  const auto lead = [&](Source source) { return in_seconds(demand.create_at(source).p90); };
  const auto slots = [&](Source source) {
    const SourceState& state = snapshot.sources[static_cast<std::size_t>(source)];
    return state.available ? state.creatable_slots() : 0;
  };
  Tiers tiers;
  if (capacity.paused > 0) {
    tiers.add(wake_lead_s(demand.wake_at(Source::local), demand.create_at(Source::local)),
              paused_slots(snapshot, true));
  }
  tiers.add(lead(Source::local), slots(Source::local));
  if (snapshot.memory.cloud_on || limits.cloud == CloudSwitch::on) {
    if (capacity.paused > 0) {
      tiers.add(wake_lead_s(demand.wake_at(Source::cloud), demand.create_at(Source::cloud)),
                paused_slots(snapshot, false));
    }
    tiers.add(lead(Source::cloud), slots(Source::cloud));
  }
  return tiers;
}

// Recurring arrivals of the minutes that begin within the horizon.
RecurringArrivals recurring_within(const Demand& demand, double horizon_s) {
  RecurringArrivals sum;
  for (std::size_t i = 0; i < demand.ahead.size(); ++i) {
    const double begins_s = i == 0 ? 0 : demand.minute_left_s + 60 * static_cast<double>(i - 1);
    if (begins_s >= horizon_s) break;
    sum.users += demand.ahead[i].users;
    sum.variance += demand.ahead[i].variance;
  }
  return sum;
}

// A share exp(-H/S) of the busy slots is still busy after H. Arrivals add to them: at the rate and
// with its dispersion, and the recurring ones.
Outlook outlook(const Demand& demand, int busy, double horizon_s) {
  const double stay = std::exp(-horizon_s / demand.session_s);
  const double fresh = demand.rate_per_s * demand.session_s * (1 - stay);
  const RecurringArrivals more = recurring_within(demand, horizon_s);
  const double variance = busy * stay * (1 - stay) + demand.dispersion * fresh + more.variance;
  return {.horizon_s = horizon_s,
          .mean = busy * stay + fresh + more.users,
          .deviation = std::sqrt(variance)};
}

// At least half a slot, since slots are whole numbers.
double at_least_half(double deviation) { return std::hypot(deviation, 0.5); }

// Above the mean: the normal quantile z, and (z^2-1)/6 for the skew of counts (Cornish and Fisher).
// The learned headroom replaces them as far as it can be trusted.
int slots_for(const Outlook& expected, int busy, double z, const Headroom::Learned& learned) {
  const double normal = z * expected.deviation + (z * z - 1) / 6;
  const double known = learned.deviations * at_least_half(expected.deviation);
  const double slots = expected.mean + learned.trust * known + (1 - learned.trust) * normal;
  return std::max(busy + 1, static_cast<int>(std::ceil(slots - 1e-9)));
}

// The slots that are ready have to last until the next way to more slots delivers. So each way has
// its own forecast, less the slots of the faster ways.
void target_by_forecast(const Snapshot& snapshot, const ScalingLimits& limits,
                        const Capacity& capacity, Target& target) {
  const Demand& demand = snapshot.demand;
  const double z = normal_quantile(1 - limits.wait_probability);
  Tiers ways = tiers(snapshot, limits, capacity);
  if (ways.count == 0) ways.add(in_seconds(demand.create_at(Source::local).p90), 1);
  const int busy = capacity.busy + snapshot.queued;
  const auto expected = [&](const Tier& way) {
    return outlook(demand, busy, way.lead_s + in_seconds(limits.tick));
  };
  target.slowest = expected(ways.all[ways.count - 1]);
  target.slowest.deviation = at_least_half(target.slowest.deviation);
  target.learned =
      snapshot.memory.headroom.learned(target.slowest.deviation, limits.wait_probability);
  int covered = 0;
  for (std::size_t i = 0; i < ways.count; ++i) {
    const Outlook here = expected(ways.all[i]);
    const int slots = slots_for(here, busy, z, target.learned);
    if (slots - covered > target.forecast) {
      target.forecast = slots - covered;
      target.horizon_s = here.horizon_s;
      target.mean = here.mean;
      target.deviation = here.deviation;
      target.recurring = recurring_within(demand, here.horizon_s).users;
    }
    covered += ways.all[i].slots;
  }
}

// A pool with fewer slots would let one user in five wait if it never grew.
int floor_of(const Demand& demand, const ScalingLimits& limits) {
  return least_servers(demand.slow_per_s * demand.session_s,
                       std::max(limits.wait_probability, k_floor_chance));
}

bool surges(const Snapshot& snapshot, const ScalingLimits& limits, TimePoint now) {
  const Demand& demand = snapshot.demand;
  constexpr int k_least_arrivals = 4;  // fewer users within a minute are not a surge
  return snapshot.queued > 0 || snapshot.memory.surge_until > now ||
         (demand.last_minute >= k_least_arrivals &&
          demand.last_minute > limits.surge_factor * demand.slow_per_s * 60);
}

int highest_target(const Snapshot& snapshot, TimePoint since) {
  int highest = 0;
  for (const TimedTarget& recent : snapshot.recent) {
    if (recent.at >= since) highest = std::max(highest, recent.target);
  }
  return highest;
}

// GPUs whose last session has ended within the hold: each served a user, whether or not a tick saw it.
int lately_used(const Snapshot& snapshot, const ScalingLimits& limits, TimePoint now) {
  const auto used = [&](const Gpu& gpu) {
    return gpu.epoch > 0 && shared(gpu) && in_idle_hold(gpu, limits, now);
  };
  return static_cast<int>(std::count_if(snapshot.gpus.begin(), snapshot.gpus.end(), used));
}

}  // namespace

bool in_idle_hold(const Gpu& gpu, const ScalingLimits& limits, TimePoint now) {
  return gpu.state == State::idle && now - gpu.since < limits.hold_down;
}

Target target_for(const Snapshot& snapshot, const ScalingLimits& limits, const Capacity& capacity,
                  TimePoint now) {
  const int busy = capacity.busy + snapshot.queued;
  Target target;
  if (limits.policy == ScalingPolicy::adaptive) {
    target_by_forecast(snapshot, limits, capacity, target);
    target.floor = floor_of(snapshot.demand, limits);
    target.least = std::max(target.forecast, target.floor);
  }
  target.least = std::max(target.least, busy + limits.min_free);
  const int ceiling =
      limits.max_free ? busy + std::max(*limits.max_free, limits.min_free) : k_no_limit;
  target.least = std::min(target.least, ceiling);
  target.most = ceiling;
  const int held = highest_target(snapshot, now - limits.hold_down);
  if (limits.policy == ScalingPolicy::adaptive) {
    target.surge = surges(snapshot, limits, now);
    target.held = held > target.least;
    target.most = target.surge ? ceiling : std::min(ceiling, std::max(target.least, held));
  } else if (limits.max_free) {
    // What FREE allowed at the time: a static target is MIN above the users, its ceiling FREE.
    const int users = std::max(held - limits.min_free, busy + lately_used(snapshot, limits, now));
    const int allowed = users + (ceiling - busy);
    target.held = allowed > ceiling;
    target.idle_hold = true;
    target.most = std::max(ceiling, allowed);
  }
  // Slots for offline work are of no use to it before those that it never gets are there.
  if (snapshot.offline > 0) {
    target.least = std::max(target.least, busy + limits.keep_free);
    if (target.most != k_no_limit) target.most = std::max(target.most, target.least);
  }
  // What users leave of the slots is lent to offline work in any case; this is what it wants besides.
  target.least += snapshot.offline;
  if (target.most != k_no_limit) target.most += snapshot.offline;
  if (!snapshot.demand.history_ready) target.most = k_no_limit;
  return target;
}

}  // namespace navtalk
