// A voice for tests, for live sessions rest their lips at mere tones: pulses of a throat through three formants, which go from an
// open vowel to a closed one and back, four syllables a second. Deterministic, loud from the first syllable on.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <utility>
#include <vector>

namespace navtalk::tests {

inline std::vector<std::int16_t> synthetic_voice(std::size_t samples, int rate_hz = 16000) {
  struct Formant {
    double hz, width_hz, strength, last = 0, before = 0;
  };
  constexpr double k_pi = std::numbers::pi;
  std::array<Formant, 3> formants{{{0, 80, 1.0}, {0, 100, 0.6}, {2600, 140, 0.3}}};
  std::vector<std::int16_t> sound(samples);
  double phase = 0;
  for (std::size_t i = 0; i < samples; ++i) {
    const double t = static_cast<double>(i) / rate_hz;
    const double open = 0.5 - 0.5 * std::cos(25 * t);
    formants[0].hz = 300 + 450 * open;
    formants[1].hz = 2100 - 900 * open;
    phase += (120 + 15 * std::sin(9 * t)) / rate_hz;
    const double pulse = phase >= 1 ? 1 : 0;
    phase -= pulse;
    double voice = 0;
    for (Formant& formant : formants) {
      const double radius = std::exp(-k_pi * formant.width_hz / rate_hz);
      const double turn = std::cos(2 * k_pi * formant.hz / rate_hz);
      const double now =
          pulse + 2 * radius * turn * formant.last - radius * radius * formant.before;
      formant.before = std::exchange(formant.last, now);
      voice += formant.strength * now;
    }
    sound[i] = static_cast<std::int16_t>(1500 * (0.3 + 0.7 * open) * voice);
  }
  return sound;
}

}  // namespace navtalk::tests
