#include "scheduler/jobs/shares/flood_headroom.h"

#include <algorithm>

namespace navtalk {
namespace {

std::int64_t waiting_jobs(const TenantLine& line) { return line.queued_jobs + line.released_jobs; }

}  // namespace

FloodHeadroom flood_headroom(std::span<const TenantLine> lines, std::int64_t slots, TimePoint now) {
  const std::int64_t kept = slots / k_slots_per_kept;
  const auto flood = std::ranges::max_element(lines, {}, waiting_jobs);
  if (kept == 0 || flood == lines.end()) return {};
  if (waiting_jobs(*flood) < std::max(k_least_flood, slots)) return {};
  double waiting = 0;
  TimePoint submitted_at{};
  for (const TenantLine& line : lines) {
    if (line.tenant == flood->tenant) continue;
    waiting += line.waits.jobs;
    submitted_at = std::max(submitted_at, line.submitted_at);
  }
  const TimePoint until = std::min(now + k_headroom_lasts, submitted_at + k_others_expected);
  if (waiting >= k_most_others_waiting || until <= now) return {};
  return {.tenant = flood->tenant, .most_running = slots - kept, .until = until};
}

}  // namespace navtalk
