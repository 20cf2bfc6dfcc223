// What the speech detector's net hears: 42 numbers for each 10 ms of a sound at 16 kHz. tools/speech_detector/features.py
// is its twin. One sound each; of one thread.
//
//   the last 512 samples ──► power spectrum ──► 40 bands, equally spaced in mel ──► logarithms
//     0..39  each band to their mean, a third of it: the colour
//     40     that mean to its slow average, a quarter of it: how the loudness changes
//     41     that mean above the floor (-80 dB of full scale in each band), an eighth of it
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "core/voice_activity/power_spectrum.h"

namespace navtalk {

class SoundFeatures {
 public:
  static constexpr int k_rate_hz = 16000;
  static constexpr std::size_t k_hop = 160, k_bands = 40, k_count = k_bands + 2;
  using Frame = std::array<float, k_count>;

  SoundFeatures();
  // The next frame, of [-1, 1).
  Frame next(std::span<const float, k_hop> samples);
  // As new: before the next frame was silence.
  void restart();

 private:
  struct Band {
    std::size_t first = 0;  // bin
    std::vector<float> shares{};
  };

  PowerSpectrum spectrum_{};
  std::vector<Band> bands_{};
  std::array<float, PowerSpectrum::k_samples> heard_{};
  double reference_ = 0;  // the level's slow average
};

}  // namespace navtalk
