// Users who come at the same minute of every hour: jobs, lessons, meetings. No rate shows them
// before they are there; the clock does. Pure, O(hours), thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace navtalk {

// Users of one minute above what is usual.
struct Foretold {
  double users = 0, variance = 0;
  friend bool operator==(const Foretold&, const Foretold&) = default;
};

// Arrivals per minute: a ring, in which the minutes before the open one are closed.
struct MinuteRing {
  std::span<const std::uint32_t> counts{};
  std::size_t open = 0, closed = 0;  // the open one's place, and how many closed ones are known
  double mean = 0;                   // of the closed ones
};

// For the minute that is so many after the open one; below 60. Nothing, unless that minute of the
// hours before differs from the mean by more than chance: a rush in a few of the hours is none.
Foretold foretold(const MinuteRing& ring, std::size_t ahead);

}  // namespace navtalk
