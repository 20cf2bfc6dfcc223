// What a tenant may have of offline rendering. A plain value; 0: no limit.
#pragma once

#include "scheduler/jobs/video_minutes.h"

namespace navtalk {

struct TenantTerms {
  int plan = 0;               // higher is served first
  double weight = 1;          // share among tenants of one plan
  double max_rate = 0;        // video-minutes a minute
  VideoMinutes max_queued{};  // that wait at once
  int max_running = 0;        // jobs at once, each of which occupies a GPU

  friend bool operator==(const TenantTerms&, const TenantTerms&) = default;
};

// The bounds of each, as in the file's [[tenant]].
inline constexpr int k_highest_plan = 1000;
inline constexpr double k_least_weight = 0.001, k_most_weight = 1000;
inline constexpr double k_most_minutes = 1e9;
inline constexpr int k_most_running = 1'000'000;

}  // namespace navtalk
