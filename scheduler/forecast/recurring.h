// Arrivals that recur at the same minute of every hour: jobs, lessons, meetings. A rate shows them
// only when they are there; the minutes of the hours before predict them. Pure, O(hours),
// thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace navtalk {

// Users of one minute above the mean.
struct RecurringArrivals {
  double users = 0, variance = 0;
  friend bool operator==(const RecurringArrivals&, const RecurringArrivals&) = default;
};

// Arrivals per minute: a ring, in which the minutes before the open one are closed.
struct MinuteRing {
  std::span<const std::uint32_t> counts{};
  std::size_t open = 0, closed = 0;  // index of the open one, number of known closed ones
  double mean = 0;                   // of the closed ones
};

// For the minute `ahead` minutes after the open one; ahead < 60. Nothing, unless that minute of the
// hours before exceeds the mean by more than chance: a burst in a few hours does not recur.
RecurringArrivals recurring_arrivals(const MinuteRing& ring, std::size_t ahead);

}  // namespace navtalk
