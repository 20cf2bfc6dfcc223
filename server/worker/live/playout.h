// What a live session plays when: sound comes in at any pace and goes out at its own, one slot after the other, each
// with one picture. Pure; the caller has the clock.
//
//   hear() ──► waiting ──► next(): the slot's sound ──► past (what the lips have heard)
//                 └ ahead: what the lips hear in advance
//
// Playing begins when the lips can hear 80 ms ahead, in the middle of a slot where more would wait for nothing, or
// when no more is to be expected; it stops when the sound runs out. Nothing that was heard is left out or changed,
// except by interrupt(), and except for what a client's faster clock makes wait (ClockDrift): 20 ms at a time are left
// out where 150 ms before and 80 ms after them are silent. Where no such silence comes, 4 to 20 ms are, once 60 ms wait,
// where both sides of the seam are alike, and once 120 ms wait, where they are most alike.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "gpu/engine/engine_backend.h"
#include "server/worker/live/clock_drift.h"

namespace navtalk::server {

struct PlayedSlot {
  std::chrono::microseconds time{}, length{};
  std::vector<std::int16_t> sound{};  // empty: nothing is played; the last of an utterance: shorter
  std::chrono::microseconds sound_time{};  // of its first sample: `time`, or later
  bool discontinuity = false;              // the sound does not go on where the last one ended
  std::chrono::microseconds left_out{};    // just before the sound
  bool interrupted = false;
  // By Lips, not by Playout:
  float lips = 0;       // 0..1, as PictureRequest
  bool speaks = false;  // by voice activity
  bool speech_starts = false, speech_ends = false;
};

class Playout {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds k_look_ahead{80};
  static constexpr int k_least_rate_hz = 8000, k_largest_rate_hz = 48000;

  // The first slot is at `clock`.
  explicit Playout(int rate_hz, std::chrono::microseconds clock = {});

  // False, and nothing is taken, when more than 120 s would wait.
  bool hear(std::span<const std::int16_t> samples, Clock::time_point now);
  // How many samples it would take now.
  std::size_t room() const;
  // The utterance is over: what waits is played to its end. 200 ms without sound mean the same.
  void end_input() { closed_ = true; }
  // Nobody listens: what waits is kept, and nothing is played.
  void pause(bool paused) {
    paused_ = paused;
    drift_.restart();
  }
  // Forgets what waits. The next slot says so.
  void interrupt();
  // The slot of that length after the last one.
  PlayedSlot next(Clock::time_point now, std::chrono::microseconds length);
  // What the lips hear in the slot that next() gave last.
  SoundWindow sound() const;
  // Of it the slot's own, silence included, and up to 80 ms that follow.
  std::vector<std::int16_t> near() const;

  int rate_hz() const { return rate_hz_; }
  std::chrono::milliseconds waiting() const;

 private:
  std::int64_t sample_at(std::chrono::microseconds time) const;  // of an endless sound
  std::size_t samples_of(std::chrono::microseconds length) const;
  std::size_t playable(Clock::time_point now, std::size_t own) const;
  // Leaves out what waits because the client's clock is faster; how much.
  std::chrono::microseconds shorten();
  std::chrono::microseconds shorten_silence();
  std::chrono::microseconds shorten_sound();
  void remember(const PlayedSlot& slot, std::size_t silent_before);

  int rate_hz_;
  std::deque<std::int16_t> waiting_{};
  std::deque<std::int16_t> past_{};   // up to the end of the last slot, silence included
  std::size_t own_ = 0;               // samples of the last slot at the end of past_
  std::chrono::microseconds time_{};  // of the next slot
  Clock::time_point last_heard_{};
  ClockDrift drift_{};
  bool closed_ = false, playing_ = false, paused_ = false;
  bool interrupted_ = false, gap_ = true;
};

}  // namespace navtalk::server
