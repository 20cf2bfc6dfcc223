// How many pictures a second a live session has: fewer as long as the machine is too slow, before anything stutters.
// Pure; the caller has the clock.
//
//   25 ──behind──► 20 ──behind──► 15      behind: three of the last ten pictures were sent more than 80 ms after
//    ◄──5 s well──  ◄──5 s well──         the beginning of their slot; one that was left out counts as two
//
// A rate that proves too high within 10 s after it was taken again is tried half as often, down to once a minute.
#pragma once

#include <chrono>
#include <deque>
#include <optional>

#include "avatars/live/live_rate.h"

namespace navtalk::server {

class RateControl {
 public:
  using Clock = std::chrono::steady_clock;

  // The next picture was sent so long after the beginning of its slot; nullopt: it was left out. True when the rate
  // changes.
  bool note(std::optional<std::chrono::microseconds> delay, Clock::time_point now);

  const FrameRate& rate() const { return k_live_rates[step_]; }
  std::chrono::microseconds slot() const { return picture_time(rate()); }
  std::size_t step() const { return step_; }  // of k_live_rates

 private:
  void change_to(std::size_t step, Clock::time_point now);

  std::size_t step_ = 0;  // of k_live_rates
  std::deque<int> faults_{};
  std::optional<Clock::time_point> well_since_{}, raised_{}, changed_{};
  std::chrono::milliseconds patience_{5'000};
};

}  // namespace navtalk::server
