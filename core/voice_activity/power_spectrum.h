// The power of a sound at 257 frequencies from 0 to half of its rate. Thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <span>

namespace navtalk {

class PowerSpectrum {
 public:
  static constexpr std::size_t k_samples = 512, k_bins = k_samples / 2 + 1;

  PowerSpectrum();
  // Through a Hann window (periodic), divided by the window's energy: white noise has its variance in every bin.
  std::array<float, k_bins> operator()(std::span<const float, k_samples> samples) const;

 private:
  static constexpr std::size_t k_half = k_samples / 2;

  std::array<float, k_samples> window_{};
  std::array<float, k_half> cosines_{}, sines_{};  // of 2 pi i / k_samples
  std::array<std::size_t, k_half> order_{};        // bits reversed
};

}  // namespace navtalk
