// How many pictures a second a live session has: fewer as long as the machine is too slow, before anything stutters.
// Pure; the caller has the clock.
//
//   25 ──behind──► 20 ──behind──► 15      behind: three of the last ten pictures were late; one that was left out
//    ◄──5 s well──  ◄──5 s well──         counts as two
//
// A picture is late when it waited for other work for more than 40 ms, or was sent more than 160 ms after the beginning
// of its slot. The work on the picture itself does not count as waiting: where several pictures are made at the same
// time, each may take longer than a slot although no more come than can be made, and a lower rate would not make it
// faster.
//
// A rate that proves too high within 10 s after it was taken again is tried half as often, down to once a minute.
#pragma once

#include <chrono>
#include <deque>
#include <optional>

#include "avatars/live/live_rate.h"

namespace navtalk::server {

struct PictureDelay {
  std::chrono::microseconds whole{};    // from the beginning of its slot until it was sent
  std::chrono::microseconds working{};  // of that: on this picture
};

class RateControl {
 public:
  using Clock = std::chrono::steady_clock;

  // The next picture was sent; nullopt: it was left out. True when the rate changes.
  bool note(std::optional<PictureDelay> delay, Clock::time_point now);

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
