// Even samples are the real parts and odd ones the imaginary parts of 256 complex numbers, whose transform (radix 2, in
// place) is then taken apart: half the work of 512 complex numbers.
#include "core/voice_activity/power_spectrum.h"

#include <cmath>
#include <numbers>

namespace navtalk {

PowerSpectrum::PowerSpectrum() {
  double energy = 0;
  std::array<double, k_samples> hann{};
  for (std::size_t i = 0; i < k_samples; ++i) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(i) / k_samples;
    hann[i] = 0.5 - 0.5 * std::cos(angle);
    energy += hann[i] * hann[i];
    if (i >= k_half) continue;
    cosines_[i] = static_cast<float>(std::cos(angle));
    sines_[i] = static_cast<float>(std::sin(angle));
  }
  for (std::size_t i = 0; i < k_samples; ++i)
    window_[i] = static_cast<float>(hann[i] / std::sqrt(energy));
  for (std::size_t i = 0; i < k_half; ++i) {
    for (std::size_t bit = 1, reversed = k_half / 2; bit < k_half; bit *= 2, reversed /= 2)
      order_[i] += (i & bit) != 0 ? reversed : 0;
  }
}

std::array<float, PowerSpectrum::k_bins> PowerSpectrum::operator()(
    std::span<const float, k_samples> samples) const {
  std::array<float, k_half> real{}, imaginary{};
  for (std::size_t i = 0; i < k_half; ++i) {
    real[order_[i]] = samples[2 * i] * window_[2 * i];
    imaginary[order_[i]] = samples[2 * i + 1] * window_[2 * i + 1];
  }
  for (std::size_t half = 1; half < k_half; half *= 2) {
    const std::size_t turn = k_half / half;  // in steps of 2 pi / k_samples
    for (std::size_t begin = 0; begin < k_half; begin += 2 * half) {
      for (std::size_t i = 0; i < half; ++i) {
        const std::size_t a = begin + i, b = a + half;
        const float c = cosines_[i * turn], s = sines_[i * turn];
        const float r = real[b] * c + imaginary[b] * s, j = imaginary[b] * c - real[b] * s;
        real[b] = real[a] - r;
        imaginary[b] = imaginary[a] - j;
        real[a] += r;
        imaginary[a] += j;
      }
    }
  }
  std::array<float, k_bins> power{};
  const auto square = [](float value) { return value * value; };
  power[0] = square(real[0] + imaginary[0]);
  power[k_half] = square(real[0] - imaginary[0]);
  for (std::size_t i = 1; i < k_half; ++i) {
    const std::size_t other = k_half - i;
    const float even_r = (real[i] + real[other]) / 2,
                even_i = (imaginary[i] - imaginary[other]) / 2;
    const float odd_r = (imaginary[i] + imaginary[other]) / 2, odd_i = (real[other] - real[i]) / 2;
    const float c = cosines_[i], s = sines_[i];
    power[i] = square(even_r + odd_r * c + odd_i * s) + square(even_i + odd_i * c - odd_r * s);
  }
  return power;
}

}  // namespace navtalk
