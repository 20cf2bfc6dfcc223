// What keeps a pool from growing although it should: a cap, a source without capacity, a backoff.
#pragma once

#include <cstdint>
#include <string_view>

namespace navtalk {

enum class BlockedBy : std::uint8_t {
  none,
  max_gpus,
  max_usd,
  creates_per_tick,
  paused_creation,
  no_capacity,
  crash_loop,
  nothing_creatable,
  failed_hold,
  outage,
};
// A phrase for people.
std::string_view name(BlockedBy reason);

}  // namespace navtalk
