// When a promised finish time changes. Pure.
#pragma once

#include <optional>

#include "core/base/time.h"

namespace navtalk {

// A promise is only moved later, and far enough that it need not be moved again soon: customers learn
// to ignore a time that changes every minute.
inline constexpr Duration k_least_delay = std::chrono::seconds(30);
// A promise counts as due this long before its time: two steps of the division.
inline constexpr Duration k_due_before = std::chrono::seconds(2);

// The new time to announce when the estimate is later than the promised time. Not before half of the time from `made_at` to
// the promise has passed: estimates go by what a tenant is sure of, and most jobs are done earlier. A promise that is due and
// will be missed is always changed, so none is broken without a notice.
constexpr std::optional<TimePoint> changed_promise(TimePoint made_at, TimePoint promised_at,
                                                   TimePoint now, TimePoint estimated_at) {
  const TimePoint honest = estimated_at > now ? estimated_at : now + k_least_delay;
  const bool due = now + k_due_before >= promised_at;
  const bool soon = now - made_at >= promised_at - now;
  if (!due && (!soon || honest < promised_at + k_least_delay)) return std::nullopt;
  const TimePoint least = promised_at + k_least_delay;
  return honest > least ? honest : least;
}

}  // namespace navtalk
