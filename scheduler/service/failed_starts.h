// GPUs that were not created or woken, and are not replaced yet because that was a moment ago. Pure.
#pragma once

#include <string>
#include <vector>

#include "core/base/error.h"
#include "scheduler/pool/pool_store.h"

namespace navtalk {

struct FailedStart {
  Source source = Source::local;
  int slots = 0;             // that it holds; 0: its row is gone, and its source is in a backoff
  bool starting = false;     // still counted as supply: whether something was made is not known
  Code code = Code::failed;  // or no_capacity
  std::string why{};

  friend bool operator==(const FailedStart&, const FailedStart&) = default;
};

// `attempts`: recent ones, in the order in which they were made. Of a source without such a row, its
// last start counts if it failed.
std::vector<FailedStart> failed_starts(const PoolView& view, const std::vector<Attempt>& attempts);

}  // namespace navtalk
