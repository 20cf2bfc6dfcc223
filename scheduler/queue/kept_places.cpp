#include "scheduler/queue/kept_places.h"

#include <algorithm>

namespace navtalk {

void KeptPlaces::keep(const Claimant& claimant, TimePoint came_at) {
  places_.with(
      [&](auto& places) { places[claimant.id] = {.plan = claimant.plan, .came_at = came_at}; });
}

void KeptPlaces::tries(const WaiterId& waiter, const LeaseId& lease) {
  places_.with([&](auto& places) {
    const auto place = places.find(waiter);
    if (place != places.end()) place->second.lease = lease;
  });
}

void KeptPlaces::drop(const WaiterId& waiter) {
  places_.with([&](auto& places) { places.erase(waiter); });
}

void KeptPlaces::drop(const LeaseId& lease) {
  places_.with([&](auto& places) {
    std::erase_if(places, [&](const auto& place) { return place.second.lease == lease; });
  });
}

std::size_t KeptPlaces::ahead_of(const Claimant& claimant, TimePoint came_at,
                                 const std::vector<Waiter>& queued) const {
  return places_.with([&](const auto& places) {
    return static_cast<std::size_t>(
        std::count_if(places.begin(), places.end(), [&](const auto& of) {
          const auto& [id, place] = of;
          const bool before = place.plan > claimant.plan ||
                              (place.plan == claimant.plan && place.came_at < came_at);
          return before && id != claimant.id &&
                 std::none_of(queued.begin(), queued.end(),
                              [&](const Waiter& waiter) { return waiter.claimant.id == id; });
        }));
  });
}

}  // namespace navtalk
