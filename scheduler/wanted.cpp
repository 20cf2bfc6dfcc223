// The law: how many slots there should be. docs/scaling.md derives the formulas.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "scheduler/decide.h"
#include "scheduler/erlang.h"
#include "scheduler/normal.h"

namespace navtalk {
namespace {

constexpr int k_no_limit = std::numeric_limits<int>::max();

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
    if (wakeable && (gpu.source == Source::runpod) != local) slots += gpu.slots;
  }
  return slots;
}

// A wake that fails costs its time and then a creation.
double wake_lead_s(const LeadTime& wake, const LeadTime& create) {
  return wake.odds * in_seconds(wake.p90) +
         (1 - wake.odds) * (in_seconds(wake.p90) + in_seconds(create.p90));
}

// The ways to more slots, the fastest first.
Tiers tiers(const Snapshot& snapshot, const Policy& policy, const Census& census) {
  const Demand& demand = snapshot.demand;
  const auto lead = [&](Source source) { return in_seconds(demand.create_at(source).p90); };
  const auto slots = [&](Source source) {
    const SourceState& state = snapshot.sources[static_cast<std::size_t>(source)];
    return state.available ? std::min(state.room, 1 << 20) * state.slots : 0;
  };
  Tiers tiers;
  if (census.paused > 0) {
    tiers.add(wake_lead_s(demand.wake_at(Source::local), demand.create_at(Source::local)),
              paused_slots(snapshot, true));
  }
  tiers.add(lead(Source::local), slots(Source::local));
  if (snapshot.memory.cloud_on || policy.cloud == CloudSwitch::on) {
    if (census.paused > 0) {
      tiers.add(wake_lead_s(demand.wake_at(Source::runpod), demand.create_at(Source::runpod)),
                paused_slots(snapshot, false));
    }
    tiers.add(lead(Source::runpod), slots(Source::runpod));
  }
  return tiers;
}

// The wanted chance of a wait now. Waits are to cost the same GPU time whenever they are avoided:
// a spare slot in a quiet hour avoids few of them, so that it may be missing more often.
double chance(const Demand& demand, const Policy& policy) {
  const double rate = demand.rate_per_s();
  const double ratio = rate > 0 && demand.day_per_s > 0 ? demand.day_per_s / rate : 1;
  return std::clamp(policy.wait_probability * ratio, policy.wait_probability / 10, 0.3);
}

struct Forecast {
  int slots = 0;
  double mean = 0, deviation = 0;
};

// Of the busy ones exp(-H/S) still are after H; new ones come at the rate, in clumps.
Forecast forecast(const Snapshot& snapshot, int busy, double horizon_s, double z) {
  const Demand& demand = snapshot.demand;
  const double stay = std::exp(-horizon_s / demand.session_s);
  const double fresh = demand.rate_per_s() * demand.session_s * (1 - stay);
  const double mean = busy * stay + fresh;
  const double deviation = std::sqrt(busy * stay * (1 - stay) + demand.burstiness * fresh);
  const int slots = static_cast<int>(std::ceil(mean + z * deviation - 1e-9));
  return {.slots = std::max(busy + 1, slots), .mean = mean, .deviation = deviation};
}

void want_by_demand(const Snapshot& snapshot, const Policy& policy, const Census& census,
                    Wanted& wanted) {
  const Demand& demand = snapshot.demand;
  const int busy = census.busy + snapshot.queued;
  wanted.chance = chance(demand, policy);
  const double z = normal_quantile(1 - wanted.chance);
  Tiers ways = tiers(snapshot, policy, census);
  if (ways.count == 0) ways.add(in_seconds(demand.create_at(Source::local).p90), 1);
  int covered = 0;  // by faster ways
  for (std::size_t i = 0; i < ways.count; ++i) {
    const double horizon_s = ways.all[i].lead_s + in_seconds(policy.tick);
    const Forecast here = forecast(snapshot, busy, horizon_s, z);
    if (here.slots - covered > wanted.forecast) {
      wanted.forecast = here.slots - covered;
      wanted.horizon_s = horizon_s;
      wanted.mean = here.mean;
      wanted.deviation = here.deviation;
    }
    covered += ways.all[i].slots;
  }
  wanted.floor = least_servers(demand.rate_per_s() * demand.session_s, wanted.chance);
  wanted.least = std::max(wanted.forecast, wanted.floor);
}

bool surges(const Snapshot& snapshot, const Policy& policy, TimePoint now) {
  const Demand& demand = snapshot.demand;
  constexpr int k_least_arrivals = 4;  // two users within a minute are no surge
  return snapshot.queued > 0 || snapshot.memory.surge_until > now ||
         (demand.last_minute >= k_least_arrivals &&
          demand.last_minute > policy.surge_factor * demand.slow_per_s * 60);
}

int highest(const Snapshot& snapshot, TimePoint since) {
  for (const TimedTarget& recent : snapshot.recent) {  // falling: the first one is the highest
    if (recent.at >= since) return recent.target;
  }
  return 0;
}

}  // namespace

Wanted wanted(const Snapshot& snapshot, const Policy& policy, const Census& census, TimePoint now) {
  const int busy = census.busy + snapshot.queued;
  Wanted wanted;
  if (policy.law == Law::adaptive) want_by_demand(snapshot, policy, census, wanted);
  wanted.least = std::max(wanted.least, busy + policy.min_free);
  const int ceiling =
      policy.max_free ? busy + std::max(*policy.max_free, policy.min_free) : k_no_limit;
  wanted.least = std::min(wanted.least, ceiling);
  wanted.most = ceiling;
  if (policy.law == Law::adaptive) {
    wanted.surge = surges(snapshot, policy, now);
    const int held = highest(snapshot, now - policy.hold_down);
    wanted.held = held > wanted.least;
    wanted.most = wanted.surge ? ceiling : std::min(ceiling, std::max(wanted.least, held));
  }
  if (!snapshot.demand.history_ready) wanted.most = k_no_limit;
  return wanted;
}

}  // namespace navtalk
