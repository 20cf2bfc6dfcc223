#include "scheduler/jobs/shares/claim_choice.h"

#include <algorithm>
#include <tuple>

namespace navtalk {
namespace {

// One that comes after a pause has no claim to what passed meanwhile.
double start_of(const ClaimCandidate& candidate, const VirtualTimes& times) {
  const auto time = times.find(candidate.plan);
  return time == times.end() ? candidate.place.finished
                             : std::max(candidate.place.finished, time->second);
}

}  // namespace

std::optional<std::size_t> choose(std::span<const ClaimCandidate> candidates,
                                  const VirtualTimes& times, TimePoint now) {
  const auto rank = [&](const ClaimCandidate& one) {
    const bool overdue = now - one.waits_since >= k_longest_passed_over;
    return std::tuple(overdue ? 0 : 1, overdue ? one.waits_since : TimePoint{},
                      overdue ? 0 : -one.plan, overdue ? 0.0 : start_of(one, times), one.job);
  };
  if (candidates.empty()) return std::nullopt;
  const auto first = std::min_element(
      candidates.begin(), candidates.end(),
      [&](const ClaimCandidate& a, const ClaimCandidate& b) { return rank(a) < rank(b); });
  return static_cast<std::size_t>(first - candidates.begin());
}

FairPlace place_after(const ClaimCandidate& chosen, VideoMinutes work, VirtualTimes& times) {
  const double start = start_of(chosen, times);
  double& time = times[chosen.plan];
  time = std::max(time, start);
  return {.started = start, .finished = start + work.count() / chosen.weight};
}

}  // namespace navtalk
