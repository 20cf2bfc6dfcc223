// What a live session plays when: sound comes in at any pace and goes out at its own, one slot of
// 40 ms after the other, each with one picture. Pure; the caller has the clock.
//
//   hear() ──► waiting ──► next(): the slot's sound ──► past (what the lips have heard)
//                 └ ahead: what the lips hear in advance
//
// Playing begins when enough is waiting for the lips to hear 80 ms ahead, or when no more is to be
// expected; it stops when the sound runs out. Nothing that was heard is left out or changed, except
// by interrupt().
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "server/worker/live/live_avatar.h"

namespace navtalk::server {

struct PlayedSlot {
  std::int64_t number = 0;            // from 0
  std::vector<std::int16_t> sound{};  // empty: nothing is played; the last of an utterance: shorter
  bool discontinuity = false;         // the sound does not go on where the last one ended
  float lips = 0;                     // 0..1, as LivePicture
  bool speaks = false;                // by voice activity
  bool speech_starts = false, speech_ends = false, interrupted = false;
};

class Playout {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::microseconds k_slot{40'000};
  static constexpr int k_least_rate_hz = 8000, k_largest_rate_hz = 48000;

  explicit Playout(int rate_hz);

  // False, and nothing is taken, when more than 120 s would wait.
  bool hear(std::span<const std::int16_t> samples, Clock::time_point now);
  // The utterance is over: what waits is played to its end. 200 ms without sound mean the same.
  void end_input() { closed_ = true; }
  // Forgets what waits. The next slot says so.
  void interrupt();
  PlayedSlot next(Clock::time_point now);
  // For the slot that next() gave last: `sound` and `first` of a picture.
  void put_sound(LivePicture& picture) const;

  int rate_hz() const { return rate_hz_; }
  std::chrono::milliseconds waiting() const;

 private:
  std::size_t begin_of(std::int64_t slot) const;  // in samples of an endless sound
  std::size_t samples_of(std::int64_t slot) const { return begin_of(slot + 1) - begin_of(slot); }
  bool begins_or_goes_on(Clock::time_point now);
  bool voice_soon(std::size_t own) const;
  void remember(const PlayedSlot& slot);
  void move_lips(PlayedSlot& slot, std::size_t own);

  int rate_hz_;
  std::deque<std::int16_t> waiting_{};
  std::deque<std::int16_t> past_{};  // up to the end of the last slot, silence included
  std::size_t own_ = 0;              // samples of the last slot at the end of past_
  Clock::time_point last_heard_{};
  std::int64_t number_ = 0;
  std::int64_t voice_until_ = -1;  // the last slot that counts as speech
  float lips_ = 0;
  bool closed_ = false, playing_ = false, speaks_ = false;
  bool interrupted_ = false, gap_ = true;
};

}  // namespace navtalk::server
