// A snapshot in the making, for tests of what the scaler decides on it.
#pragma once

#include <string>

#include "scheduler/scaling/decide.h"
#include "scheduler/scaling/explain.h"

namespace navtalk::tests {

using namespace std::chrono_literals;

inline constexpr TimePoint k_now{std::chrono::hours(500000)};
// A pool in the making; the defaults of a quiet one that nothing has to be done to.
struct Pool {
  Snapshot snapshot;
  ScalingLimits limits;

  Pool() {
    snapshot.demand.history_ready = true;
    for (std::size_t i = 0; i < k_sources; ++i) {
      snapshot.demand.create[i] = {.p50 = 60s, .p90 = 90s};
      snapshot.demand.wake[i] = {.p50 = 5s, .p90 = 8s};
    }
    source(Source::local) = {.available = true, .creatable = 0};
    source(Source::cloud) = {.available = true, .creatable = 100, .usd_per_hour = 0.5};
    limits.cloud = CloudSwitch::on;
    limits.min_free = 0;
    limits.max_free = 100;
    limits.hold_down = {};
  }
  SourceState& source(Source source) { return snapshot.sources[static_cast<std::size_t>(source)]; }

  Gpu& add(Source source, State state, int sessions = 0) {
    snapshot.gpus.push_back({.id = GpuId{"g" + std::to_string(snapshot.gpus.size())},
                             .source = source,
                             .state = state,
                             .sessions = sessions,
                             .provider_id = source == Source::cloud ? "pod" : "",
                             .usd_per_hour = source == Source::cloud ? 0.5 : 0,
                             .created_at = k_now - 1h,
                             .since = k_now - 20s});
    return snapshot.gpus.back();
  }
  Plan plan() const { return decide(snapshot, limits, k_now); }
  std::string did() const { return summary(plan()); }
};

// That many sessions, and users who come at that rate for 300 s each, under the adaptive policy.
inline Pool busy_pool(int busy, double users_per_min) {
  Pool pool;
  pool.limits.policy = ScalingPolicy::adaptive;
  pool.limits.max_free = std::nullopt;
  pool.limits.hold_down = ScalingLimits{}.hold_down;
  pool.limits.max_creates_per_tick = 0;
  pool.snapshot.demand.fast_per_s = pool.snapshot.demand.slow_per_s =
      pool.snapshot.demand.rate_per_s = users_per_min / 60;
  pool.snapshot.demand.session_s = 300;
  for (int i = 0; i < busy; ++i) pool.add(Source::cloud, State::running, 1);
  return pool;
}

}  // namespace navtalk::tests
