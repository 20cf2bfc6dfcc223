// When a free slot is lent to offline work, and when it is back. Pure: the store, the estimates of waits and the simulator
// of the lanes all follow it.
#pragma once

#include <cstddef>

#include "core/base/time.h"

namespace navtalk {

// A slot that is lent is back within this time of being wanted.
inline constexpr Duration k_lent_back = std::chrono::seconds(10);

constexpr bool may_lend(std::size_t waiting_users) { return waiting_users == 0; }

}  // namespace navtalk
