// A view of the pool for a loop that looks often: it is read again when something has changed that
// matters to waiters or to a GPU's life, and after `at_most` for the rest (answers of probes). One owner,
// one thread at a time.
#pragma once

#include <chrono>
#include <optional>

#include "scheduler/pool/pool_store.h"

namespace navtalk {

class KeptView {
 public:
  // `at_most` 0: it is read every time.
  KeptView(PoolStore& store, Duration at_most) : store_(store), at_most_(at_most) {}

  // Valid until the next call. Error{failed} as PoolStore::view(); the next call reads again.
  const PoolView& current();

 private:
  using Clock = std::chrono::steady_clock;

  PoolStore& store_;
  const Duration at_most_;
  std::optional<PoolView> view_{};
  Clock::time_point read_at_{};
  std::uint64_t changes_ = 0;  // before the view was read
};

}  // namespace navtalk
