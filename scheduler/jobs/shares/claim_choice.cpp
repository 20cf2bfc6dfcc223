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

std::vector<std::size_t> next_of_plans(std::span<const ClaimCandidate> candidates,
                                       const VirtualTimes& times) {
  std::map<int, std::size_t> first;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const auto fair = [&](std::size_t index) {
      const ClaimCandidate& one = candidates[index];
      return std::tuple(!one.below, start_of(one, times), one.place.finished, one.order);
    };
    const auto [best, is_first] = first.emplace(candidates[i].plan, i);
    if (!is_first && fair(i) < fair(best->second)) best->second = i;
  }
  std::vector<std::size_t> all;
  for (const auto& [plan, index] : first) all.push_back(index);
  return all;
}

std::optional<std::size_t> choose(std::span<const ClaimCandidate> candidates,
                                  const VirtualTimes& times, TimePoint now) {
  const std::vector<std::size_t> first = next_of_plans(candidates, times);
  const auto rank = [&](const ClaimCandidate& one) {
    const bool overdue = now - one.waits_since >= k_longest_passed_over;
    return std::tuple(!one.below, !overdue, overdue ? one.waits_since : TimePoint{},
                      overdue ? 0 : -one.plan, one.order);
  };
  const auto chosen = std::min_element(first.begin(), first.end(), [&](auto a, auto b) {
    return rank(candidates[a]) < rank(candidates[b]);
  });
  return chosen == first.end() ? std::nullopt : std::optional(*chosen);
}

FairPlace place_after(const ClaimCandidate& chosen, VideoMinutes work, VirtualTimes& times) {
  const double start = start_of(chosen, times);
  double& time = times[chosen.plan];
  time = std::max(time, start);
  return {.started = start, .finished = start + work.count() / chosen.weight};
}

}  // namespace navtalk
