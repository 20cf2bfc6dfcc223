#include "server/worker/live/sound_cut.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "core/base/check.h"

namespace navtalk::server {
namespace {

// Two sounds are compared at this rate: a finer seam is not heard.
constexpr int k_compared_hz = 16000;

double likeness(const std::vector<double>& sound, std::size_t lag, std::size_t length) {
  double product = 0, first = 0, second = 0;
  for (std::size_t i = 0; i < length; ++i) {
    product += sound[i] * sound[i + lag];
    first += sound[i] * sound[i];
    second += sound[i + lag] * sound[i + lag];
  }
  if (first == 0 && second == 0) return 1;
  return first > 0 && second > 0 ? product / std::sqrt(first * second) : 0;
}

}  // namespace

SoundCut best_cut(const std::deque<std::int16_t>& sound, std::size_t least, std::size_t most,
                  std::size_t fade, int rate_hz) {
  NAVTALK_CHECK(least > 0 && least <= most && sound.size() >= most + fade);
  const auto step = static_cast<std::size_t>(std::max(1, rate_hz / k_compared_hz));
  std::vector<double> compared;
  for (std::size_t at = 0; at < most + fade; at += step) compared.push_back(sound[at]);
  const double mean =
      std::accumulate(compared.begin(), compared.end(), 0.0) / static_cast<double>(compared.size());
  for (double& sample : compared) sample -= mean;
  const std::size_t length = fade / step;
  SoundCut best{.length = least, .likeness = -1};
  for (std::size_t lag = (least + step - 1) / step; lag * step <= most; ++lag) {
    const double alike = likeness(compared, lag, length);
    if (alike > best.likeness) best = {.length = lag * step, .likeness = alike};
  }
  return best;
}

void cut_front(std::deque<std::int16_t>& sound, std::size_t cut, std::size_t fade) {
  for (std::size_t i = 0; i < fade; ++i) {
    const double new_part = static_cast<double>(i + 1) / static_cast<double>(fade + 1);
    sound[cut + i] = static_cast<std::int16_t>(
        std::lround(sound[i] * (1 - new_part) + sound[cut + i] * new_part));
  }
  sound.erase(sound.begin(), sound.begin() + static_cast<std::ptrdiff_t>(cut));
}

}  // namespace navtalk::server
