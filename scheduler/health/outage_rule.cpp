#include "scheduler/health/outage_rule.h"

#include <algorithm>

namespace navtalk {
namespace {

constexpr int k_least = 3;  // GPUs that miss: fewer can all be at fault by accident
constexpr int k_few = 3;    // GPUs of a provider
constexpr Duration k_few_at_most = std::chrono::minutes(10);
constexpr int k_begins = 2;

}  // namespace

OriginAnswers count_answers(std::span<const Gpu> gpus, Origin origin, const Outage& outage,
                            Duration grace, TimePoint now) {
  const TimePoint recent = (outage.on ? outage.since : now) - grace;
  OriginAnswers answers;
  for (const Gpu& gpu : gpus) {
    if (origin_of(gpu) != origin || gpu.url.empty()) continue;
    const bool lost =
        gpu.state == State::failed && gpu.misses >= k_silent_misses && gpu.since >= recent;
    if (!gpu.serving() && !lost) continue;
    ++answers.gpus;
    if (!lost && gpu.misses < (outage.on ? 1 : k_begins)) continue;
    ++answers.missing;
    if (in_cloud(origin) && now - gpu.missed_since < k_few_at_most) ++answers.lately;
  }
  return answers;
}

Outage judge(const Outage& before, const OriginAnswers& answers, TimePoint now) {
  const bool most = answers.missing >= k_least && 2 * answers.missing > answers.gpus;
  const bool few = answers.gpus > 0 && answers.gpus <= k_few && 2 * answers.lately > answers.gpus;
  const bool on = most || few;
  return on == before.on ? before : Outage{.on = on, .since = now};
}

bool misses_too_many(const Gpu& gpu, Duration grace, TimePoint now) {
  return gpu.misses >= k_silent_misses && now - gpu.missed_since >= grace;
}

bool is_lost(const Gpu& gpu, const Outage& outage, Duration grace, TimePoint now) {
  return !outage.on && misses_too_many(gpu, grace, now) && now - outage.since >= grace;
}

}  // namespace navtalk
