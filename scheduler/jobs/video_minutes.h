// VideoMinutes: an amount of offline work, as the length of the video that its decoded audio makes. Jobs
// differ a thousandfold in length, so their number says nothing about how long they take. A value,
// exact to the microsecond.
#pragma once

#include <compare>

#include "core/base/time.h"

namespace navtalk {

class VideoMinutes {
 public:
  constexpr VideoMinutes() = default;
  // Of audio that lasts so long.
  constexpr explicit VideoMinutes(Duration audio) : audio_(audio) {}

  constexpr Duration audio() const { return audio_; }
  constexpr double count() const { return in_seconds(audio_) / 60; }

  constexpr VideoMinutes& operator+=(VideoMinutes other) {
    audio_ += other.audio_;
    return *this;
  }
  friend constexpr VideoMinutes operator+(VideoMinutes a, VideoMinutes b) { return a += b; }
  friend constexpr VideoMinutes operator-(VideoMinutes a, VideoMinutes b) {
    return VideoMinutes(a.audio_ - b.audio_);
  }
  friend constexpr auto operator<=>(VideoMinutes, VideoMinutes) = default;

 private:
  Duration audio_{};
};

}  // namespace navtalk
