// When a promised finish time changes. Pure.
#pragma once

#include <algorithm>
#include <optional>

#include "core/base/time.h"

namespace navtalk {

// A promise is moved far enough that it need not be moved again soon: customers learn to ignore a time that changes every
// minute. A step later is at least this long, and twice as long for each change before, up to about an hour.
inline constexpr Duration k_least_delay = std::chrono::seconds(30);
inline constexpr int k_most_doublings = 7;
// A promise counts as due this long before its time: two steps of the division.
inline constexpr Duration k_due_before = std::chrono::seconds(2);
// A promise is moved earlier when less than half of the time to it is needed, by this much at least and by no less than it
// would move later, so that it does not go to and fro; and when it has not changed for so long.
inline constexpr Duration k_least_gain = std::chrono::minutes(3);
inline constexpr Duration k_earlier_pause = std::chrono::minutes(3);

struct PromiseTimes {
  TimePoint made_at{};
  TimePoint promised_at{};  // last
  int changes = 0;
  TimePoint changed_at{};  // when it changed last; `made_at` if it has not
};

// By how much it is moved later at least.
constexpr Duration least_delay(const PromiseTimes& promise) {
  return k_least_delay * (1 << std::clamp(promise.changes, 0, k_most_doublings));
}

// The new time to announce. Later: when the estimate is, though not before half of the time from `made_at` to the promise has
// passed: estimates go by what a tenant is sure of, and most jobs are done earlier. A promise that is due and will be missed
// is always changed, so none is broken without a notice. Earlier: see k_least_gain.
constexpr std::optional<TimePoint> changed_promise(const PromiseTimes& promise, TimePoint now,
                                                   TimePoint estimated_at) {
  const Duration step = least_delay(promise);
  const TimePoint honest = estimated_at > now ? estimated_at : now + step;
  const TimePoint least = promise.promised_at + step;
  const bool due = now + k_due_before >= promise.promised_at;
  if (due) return std::max(honest, least);
  const bool soon = now - promise.made_at >= promise.promised_at - now;
  if (soon && honest >= least) return honest;
  const Duration needed = estimated_at - now, gain = promise.promised_at - estimated_at;
  const bool much = needed >= Duration{} && needed < gain && gain >= std::max(k_least_gain, step);
  if (much && now - promise.changed_at >= k_earlier_pause) return estimated_at;
  return std::nullopt;
}

}  // namespace navtalk
