// Pools that are quick to blame a GPU for its sessions, and what they hold against one.
#pragma once

#include <chrono>
#include <cstddef>

#include "scheduler/pool/faults/session_faults.h"
#include "tests/server/gateway/gateway_pool.h"

namespace navtalk::tests {

// Every fault is an occasion of its own, and a GPU that is compared with nothing is to blame for any
// series.
inline AllocatorOptions quick_to_blame(std::size_t queue_limit = 100) {
  return {.queue_limit = queue_limit,
          .faults = {.same_occasion = std::chrono::seconds(0),
                     .lone_occasions = 3,
                     .lone_clients = 3,
                     .lone_span = std::chrono::seconds(0)}};
}

// Sessions that the store counts as evidence.
inline std::size_t known_faults(GatewayPool& pool) {
  const auto faults = k_session_faults.read(pool.store());
  return faults ? faults->all().size() : 0;
}

}  // namespace navtalk::tests
