#include "scheduler/pool/usage.h"

#include <algorithm>

namespace navtalk {

double usd_per_slot_hour(const Gpu& gpu) {
  return gpu.slots > 0 ? gpu.usd_per_hour / gpu.slots : 0;
}

std::vector<Usage> usage_of(const TenantId& tenant, const Gpu& gpu, TimePoint from, TimePoint to,
                            bool ended) {
  using std::chrono::days;
  std::vector<Usage> pieces;
  to = std::max(from, to);
  const auto last = std::chrono::floor<days>(to);
  for (auto day = std::chrono::floor<days>(from); day <= last; day += days(1)) {
    const TimePoint begin = std::max<TimePoint>(from, day);
    const TimePoint end = std::min<TimePoint>(to, day + days(1));
    const double seconds = in_seconds(end - begin);
    pieces.push_back({.day = day,
                      .tenant = tenant,
                      .origin = origin_of(gpu),
                      .seconds = seconds,
                      .usd = usd_per_slot_hour(gpu) * seconds / 3600});
  }
  if (ended) pieces.back().sessions = 1;
  return pieces;
}

}  // namespace navtalk
