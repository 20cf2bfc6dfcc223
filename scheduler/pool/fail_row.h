// A GPU fails: its row takes Event::fail with the reason as last error, and the log names both.
// Stateless.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "scheduler/pool/pool_store.h"

namespace navtalk {

struct RowFailure {
  Cause cause;                             // for the row's events and the log
  std::string last_error{};                // empty: the cause's reason
  bool clear_intent = false;               // what the row was to do has its outcome
  bool costs_nothing = false;              // no instance exists
  std::optional<Attempt::Result> start{};  // of a starting row: recorded for its create or wake
  std::uint64_t fence = 0;                 // the scaler's; 0: nobody's
};

// Fails the row as it was read. False when another process changed it since.
bool fail_row(PoolStore& store, const Gpu& row, const RowFailure& failure);
// Fails the row as it is now, if `may_fail` allows it. False when it does not, or the row is gone.
bool fail_row(PoolStore& store, const GpuId& id, const RowFailure& failure,
              const std::function<bool(const Gpu&)>& may_fail);

}  // namespace navtalk
