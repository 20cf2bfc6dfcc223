#include "core/voice_activity/rate_converter.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/base/check.h"
#include "core/voice_activity/sound_features.h"

namespace navtalk {
namespace {

constexpr std::int64_t k_rate_hz = SoundFeatures::k_rate_hz;
// Places between two samples: exact for 44,100 and 22,050 Hz, as for whole and half multiples of 16 kHz.
constexpr std::int64_t k_phases = 320;
constexpr int k_crossings = 12;
constexpr double k_pass = 0.92;  // of the band that both rates have

double sinc(double x) {
  return x == 0 ? 1 : std::sin(std::numbers::pi * x) / (std::numbers::pi * x);
}

}  // namespace

RateConverter::RateConverter(int rate_hz) : rate_hz_(rate_hz) {
  NAVTALK_CHECK(rate_hz >= 8000 && rate_hz <= 48000);
  if (rate_hz_ == k_rate_hz) return;
  const double band = std::min(1.0, static_cast<double>(k_rate_hz) / rate_hz_) * k_pass;
  reach_ = static_cast<std::int64_t>(std::ceil(k_crossings / band));
  for (std::int64_t phase = 0; phase <= k_phases; ++phase) {
    std::vector<double> kernel;
    double sum = 0;
    for (std::int64_t tap = 0; tap < 2 * reach_; ++tap) {
      const double x =
          static_cast<double>(tap - reach_ + 1) - static_cast<double>(phase) / k_phases;
      const double hann = 0.5 + 0.5 * std::cos(std::numbers::pi * x / static_cast<double>(reach_));
      kernel.push_back(std::abs(x) < static_cast<double>(reach_) ? sinc(band * x) * hann : 0);
      sum += kernel.back();
    }
    for (const double tap : kernel) kernels_.push_back(static_cast<float>(tap / sum));
  }
  // Before the sound was silence.
  first_ = 1 - reach_;
  heard_.assign(static_cast<std::size_t>(reach_ - 1), 0);
}

void RateConverter::convert(std::span<const std::int16_t> samples, std::vector<float>& converted) {
  const auto value = [](std::int16_t sample) { return static_cast<float>(sample) / 32768.0F; };
  if (rate_hz_ == k_rate_hz) {
    std::ranges::transform(samples, std::back_inserter(converted), value);
    return;
  }
  std::ranges::transform(samples, std::back_inserter(heard_), value);
  const std::int64_t end = first_ + std::ssize(heard_);
  const auto before = [&] { return converted_ * rate_hz_ / k_rate_hz; };  // the last sample
  for (; before() + reach_ < end; ++converted_) {
    const std::int64_t rest = converted_ * rate_hz_ % k_rate_hz;
    const std::int64_t phase = (rest * k_phases + k_rate_hz / 2) / k_rate_hz;
    const float* kernel = kernels_.data() + phase * 2 * reach_;
    const float* heard = heard_.data() + (before() - reach_ + 1 - first_);
    float even = 0, odd = 0;
    for (std::int64_t tap = 0; tap < 2 * reach_; tap += 2) {
      even += kernel[tap] * heard[tap];
      odd += kernel[tap + 1] * heard[tap + 1];
    }
    converted.push_back(even + odd);
  }
  const std::int64_t over =
      std::min<std::int64_t>(before() - reach_ + 1 - first_, std::ssize(heard_));
  if (over > 0) {
    heard_.erase(heard_.begin(), heard_.begin() + over);
    first_ += over;
  }
}

}  // namespace navtalk
