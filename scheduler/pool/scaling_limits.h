// What the operator has set for the scaler: the policy, and the limits that hold under each one. A
// value; checked where the configuration is read.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/base/time.h"

namespace navtalk {

enum class ScalingPolicy : std::uint8_t {
  static_limits,  // "static": MIN and FREE as they are set
  adaptive,       // from the P(wait) asked for: docs/scaling.md
};
std::string_view name(ScalingPolicy policy);  // "static", "adaptive"
std::optional<ScalingPolicy> parse_scaling_policy(std::string_view text);

enum class CloudSwitch : std::uint8_t { off, on, automatic };  // "auto"
std::string_view name(CloudSwitch cloud);
std::optional<CloudSwitch> parse_cloud_switch(std::string_view text);

// How far a sum of prices may be above max_usd_per_hour: 0.1 + 0.2 is a little more than 0.3.
inline constexpr double k_rounding_usd = 1e-6;

struct ScalingLimits {
  ScalingPolicy policy = ScalingPolicy::static_limits;
  std::optional<ScalingPolicy> shadow{};  // computed and recorded too, never acted on

  int min_free = 1;                 // free slots, starting ones included: never fewer
  std::optional<int> max_free = 2;  // free slots: no more, after the hold. adaptive: never more,
                                    // and only where it is set
  int keep_free = 0;                // free slots that no job gets
  double wait_probability = 0.01;   // adaptive: the share of users who may wait at all

  Duration tick = std::chrono::seconds(5);
  Duration hold_down = std::chrono::seconds(60);  // down to the highest target of it
  Duration surge_hold = std::chrono::minutes(2);  // a surge freezes downs for so long
  double surge_factor = 2;  // surge: a minute's arrivals against the EWMA of 30 min

  int max_gpus = 0;              // 0: no cap. Rows that are neither dedicated nor external
  int max_creates_per_tick = 8;  // 0: no cap. Creations and wakes
  double max_usd_per_hour = 0;   // 0: no cap

  CloudSwitch cloud = CloudSwitch::automatic;
  int cloud_after_ticks = 2;                             // of need, before auto switches it on
  Duration cloud_quiet_hold = std::chrono::minutes(15);  // without need, before auto switches off

  Duration failed_hold = std::chrono::seconds(30);  // a failed GPU is not replaced before
  // By Source: local, external, cloud.
  std::array<Duration, 3> start_deadline = {std::chrono::minutes(10), std::chrono::minutes(10),
                                            std::chrono::minutes(10)};
  Duration max_pod_age{};  // then a pod is drained and replaced; 0: no bound
  Duration reservation_hold = std::chrono::seconds(30);  // idle, but kept for its waiter
  // Creation at a source after failures in a row: this, doubled each time, up to the most.
  Duration back_off = std::chrono::seconds(5), back_off_most = std::chrono::minutes(5);
  Duration no_capacity_wait = std::chrono::seconds(30);

  int max_paused_cloud = 0;  // stopped pods worth their disk; 0: destroyed when not needed
  double min_wake_success_rate = 0.9;  // below it a cloud GPU is destroyed, not paused
};

}  // namespace navtalk
