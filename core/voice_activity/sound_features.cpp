#include "core/voice_activity/sound_features.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace navtalk {
namespace {

constexpr double k_lowest_hz = 60, k_highest_hz = 7600;
constexpr float k_floor = 1e-8F;  // of a band's mean power
constexpr double k_reference_pace = 0.01;
constexpr double k_bin_hz =
    static_cast<double>(SoundFeatures::k_rate_hz) / PowerSpectrum::k_samples;

double mel_of(double hz) { return 2595 * std::log10(1 + hz / 700); }
double hz_of(double mel) { return 700 * (std::pow(10, mel / 2595) - 1); }
double quiet() { return std::log(static_cast<double>(k_floor)); }

}  // namespace

SoundFeatures::SoundFeatures() : reference_(quiet()) {
  const double lowest = mel_of(k_lowest_hz), step = (mel_of(k_highest_hz) - lowest) / (k_bands + 1);
  for (std::size_t band = 0; band < k_bands; ++band) {
    const auto edge = [&](std::size_t number) {
      return hz_of(lowest + step * static_cast<double>(band + number)) / k_bin_hz;
    };
    const double left = edge(0), middle = edge(1), right = edge(2);
    Band made{.first = static_cast<std::size_t>(std::ceil(left))};
    for (std::size_t bin = made.first; static_cast<double>(bin) < right; ++bin) {
      const double at = static_cast<double>(bin);
      made.shares.push_back(static_cast<float>(
          std::max(0.0, std::min((at - left) / (middle - left), (right - at) / (right - middle)))));
    }
    float sum = std::accumulate(made.shares.begin(), made.shares.end(), 0.0F);
    // The lowest bands are narrower than the distance of two bins.
    if (sum < 1e-3F) {
      made = {.first = static_cast<std::size_t>(std::lround(middle)), .shares = {1}};
      sum = 1;
    }
    for (float& share : made.shares) share /= sum;
    bands_.push_back(std::move(made));
  }
}

void SoundFeatures::restart() {
  heard_.fill(0);
  reference_ = quiet();
}

SoundFeatures::Frame SoundFeatures::next(std::span<const float, k_hop> samples) {
  std::copy(heard_.begin() + k_hop, heard_.end(), heard_.begin());
  std::copy(samples.begin(), samples.end(), heard_.end() - k_hop);
  const auto power = spectrum_(heard_);
  Frame frame{};
  double sum = 0;
  for (std::size_t i = 0; i < k_bands; ++i) {
    float mean = 0;
    for (std::size_t bin = 0; bin < bands_[i].shares.size(); ++bin)
      mean += bands_[i].shares[bin] * power[bands_[i].first + bin];
    frame[i] = std::log(mean + k_floor);
    sum += static_cast<double>(frame[i]);
  }
  const double level = sum / k_bands;
  reference_ += k_reference_pace * (level - reference_);
  for (std::size_t i = 0; i < k_bands; ++i) frame[i] = (frame[i] - static_cast<float>(level)) / 3;
  frame[k_bands] = static_cast<float>((level - reference_) / 4);
  frame[k_bands + 1] = static_cast<float>((level - quiet()) / 8);
  return frame;
}

}  // namespace navtalk
