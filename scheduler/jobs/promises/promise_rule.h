// When a promised finish time changes. Pure.
#pragma once

#include <optional>

#include "core/base/time.h"

namespace navtalk {

// A promise is changed only for the worse, and at once by enough that it need not be changed again
// soon: a customer who is told of each minute learns to ignore it.
inline constexpr Duration k_least_delay = std::chrono::seconds(30);
// A promise counts as due so long before its time: two turns of the division.
inline constexpr Duration k_due_before = std::chrono::seconds(2);

// The new time to announce where the estimate says that the promised one will be missed. A promise
// that is due is changed in any case: it never slips silently.
constexpr std::optional<TimePoint> changed_promise(TimePoint promised_at, TimePoint now,
                                                   TimePoint estimated_at) {
  const TimePoint honest = estimated_at > now ? estimated_at : now + k_least_delay;
  if (honest < promised_at + k_least_delay && now + k_due_before < promised_at) return std::nullopt;
  const TimePoint least = promised_at + k_least_delay;
  return honest > least ? honest : least;
}

}  // namespace navtalk
