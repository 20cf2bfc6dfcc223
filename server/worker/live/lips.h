// When the lips of a live session follow its sound, by voice activity: what is not speech leaves them at rest.
//
//   Playout::near() ──► SpeechDetector ──► speech, and 320 ms after it ──► lips, opened and closed within 120 ms
//
// The detector hears 80 ms ahead of the slot, so that the lips begin to open in the slot in which a word begins, or the one
// after. Of one thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/voice_activity/speech_detector.h"
#include "server/worker/live/playout.h"

namespace navtalk::server {

class Lips {
 public:
  // Of a Playout of that rate, at its beginning.
  explicit Lips(int rate_hz) : rate_hz_(rate_hz), detector_(rate_hz) {}
  // Says what lips and speech do in the slot that next() gave last; `near` is Playout::near(). Each slot in its order.
  void follow(PlayedSlot& slot, std::span<const std::int16_t> near);

 private:
  void hear(const PlayedSlot& slot, std::span<const std::int16_t> near);

  int rate_hz_;
  SpeechDetector detector_;
  std::int64_t heard_ = 0;                      // samples that the detector was given
  std::size_t heard_ahead_ = 0;                 // of them those after the last slot
  std::chrono::microseconds speech_until_{-1};  // of the session's clock; negative: nobody spoke
  float lips_ = 0;
  bool speaks_ = false, stilled_ = false;
};

}  // namespace navtalk::server
