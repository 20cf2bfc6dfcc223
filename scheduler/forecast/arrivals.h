// The arrivals of users, and what they let one expect: rates over minutes and hours, their
// dispersion, and arrivals that recur every hour. O(1) amortised an arrival; not thread-safe, one
// owner.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/base/time.h"
#include "scheduler/forecast/recurring.h"

namespace navtalk {

inline constexpr Duration k_fast_memory = std::chrono::minutes(2);  // of Arrivals::fast_per_s()
inline constexpr Duration k_slow_memory = std::chrono::minutes(30);

// Recurring arrivals of the rest of this minute and of the next ones; none beyond these.
using MinutesAhead = std::array<RecurringArrivals, 16>;

class Arrivals {
 public:
  explicit Arrivals(TimePoint now);

  // History begins there: the clock goes back to it, once, before anything was added.
  void begin_at(TimePoint first);
  // Times do not go back; an arrival from before the last one counts as of the last one.
  void add(TimePoint at, std::int64_t count);
  void advance(TimePoint now);
  TimePoint now() const { return now_; }

  // All as of now().
  double fast_per_s() const { return fast_; }  // EWMA of 2 min
  double slow_per_s() const { return slow_; }  // EWMA of 30 min
  double day_per_s() const;                    // mean of the last 24 h
  int last_minute() const;                     // arrivals of the last 60 s
  // What to expect: the slow rate, and twice the burst that the fast one shows beyond what recurs.
  double rate_per_s() const;
  // Variance over mean of the arrivals per minute, within 1 .. 8, from the change between one
  // minute and the next: what no rate predicts.
  double dispersion() const;
  MinutesAhead ahead() const;
  double minute_left_s() const { return in_seconds(minute_ends_ - now_); }

 private:
  void close_minute();
  MinuteRing ring() const;

  TimePoint begin_, now_;
  double fast_ = 0, slow_ = 0;
  double recurring_ = 0;  // the part of fast_ that recurs
  // Arrivals per minute over a day: a ring, the open one included; sums of the closed ones.
  std::vector<std::uint32_t> minutes_;
  std::size_t minute_ = 0, minutes_known_ = 0;
  TimePoint minute_ends_;
  double sum_ = 0, squared_changes_ = 0;
  std::array<int, 10> recent_{};  // the last 60 s in tenths
  std::int64_t recent_slot_ = 0;
};

}  // namespace navtalk
