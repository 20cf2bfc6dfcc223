// Tells speech from all other sounds, while a sound comes. Noise, hum, tones, most music without voice and near silence are not
// speech, however loud; speech is, down to about -55 dB of full scale, alone or 5 dB above what is around it. Deterministic: the
// answers do not depend on the pieces in which the sound comes. One sound each; of one thread.
//
//   samples ──► RateConverter ──► SoundFeatures, each 10 ms ──► DetectorNet ──► speech from k_begin on, until below k_end
//
// After half a second of near silence the net is as new and does not run until something is heard.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/voice_activity/detector_net.h"
#include "core/voice_activity/rate_converter.h"
#include "core/voice_activity/sound_features.h"

namespace navtalk {

class SpeechDetector {
 public:
  // What can be told of a sound lags behind its end by that, and 10 ms of a frame.
  static constexpr std::chrono::milliseconds k_delay{10 * DetectorNet::k_delay};
  // How likely speech must be for it to begin, and how unlikely to end.
  static constexpr float k_begin = 0.6F, k_end = 0.3F;
  // The answers before this one, since the net was as new, do not count: they are about the silence before a sound, or have heard
  // 20 ms of it at most.
  static constexpr std::int64_t k_first_counted = 9;

  // 8000 to 48000 Hz.
  explicit SpeechDetector(int rate_hz) : converter_(rate_hz) {}
  void hear(std::span<const std::int16_t> samples);
  // Where the latest speech ends that can be told by now, from the sound's beginning; none where there was none.
  std::optional<std::chrono::microseconds> last_speech() const { return last_speech_; }
  // The net's answer to the latest frame, 0 where it is about silence, for tests.
  float likelihood() const { return likelihood_; }

 private:
  void hear_frame(std::span<const float, SoundFeatures::k_hop> samples);

  RateConverter converter_;
  SoundFeatures features_{};
  DetectorNet::State state_{};
  std::vector<float> waiting_{};  // less than a frame
  std::int64_t frames_ = 0;
  std::int64_t answers_ = 0;  // of the net since it was as new
  int silent_frames_ = 0;
  float likelihood_ = 0;
  bool speaks_ = false;
  std::optional<std::chrono::microseconds> last_speech_{};
};

}  // namespace navtalk
