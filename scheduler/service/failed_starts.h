// GPUs that hold their place in the pool although they were not created or woken: their failure is
// recent, so nothing replaces them yet. Pure.
#pragma once

#include <string>
#include <vector>

#include "core/base/error.h"
#include "scheduler/pool/pool_store.h"

namespace navtalk {

struct FailedStart {
  Source source = Source::local;
  int slots = 0;
  bool starting = false;     // still counted as supply: whether something was made is not known
  Code code = Code::failed;  // or no_capacity
  std::string why{};

  friend bool operator==(const FailedStart&, const FailedStart&) = default;
};

// `attempts`: those since the oldest of these rows failed, in the order in which they were made.
std::vector<FailedStart> failed_starts(const PoolView& view, const std::vector<Attempt>& attempts);

}  // namespace navtalk
