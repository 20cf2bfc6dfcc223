// The users of one gateway who had a GPU on which their session did not begin. Until one begins, each is
// counted as ahead of those who came later: while it tries the next GPU, it is not among the store's
// waiters, and the positions of those behind would fall and rise each time. Thread-safe.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "core/base/guarded.h"
#include "scheduler/pool/session.h"

namespace navtalk {

class KeptPlaces {
 public:
  // `came_at`: when that user came.
  void keep(const Claimant& claimant, TimePoint came_at);
  // It has that lease now, under which its session may begin or not.
  void tries(const WaiterId& waiter, const LeaseId& lease);
  void drop(const WaiterId& waiter);
  void drop(const LeaseId& lease);
  // How many were kept for others who came before `came_at`, or have a higher plan, and are not among
  // the `queued`.
  std::size_t ahead_of(const Claimant& claimant, TimePoint came_at,
                       const std::vector<Waiter>& queued) const;

 private:
  struct Place {
    int plan = 0;
    TimePoint came_at{};
    LeaseId lease{};
  };

  Guarded<std::map<WaiterId, Place>> places_;
};

}  // namespace navtalk
