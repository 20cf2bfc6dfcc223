#include "core/voice_activity/speech_detector.h"

#include <algorithm>
#include <numeric>

namespace navtalk {
namespace {

constexpr float k_silent_power = 3.2e-8F;  // -75 dB of full scale
constexpr int k_silent_frames = 50;
constexpr std::chrono::milliseconds k_frame{10};

bool is_silent(std::span<const float, SoundFeatures::k_hop> samples) {
  const float energy = std::inner_product(samples.begin(), samples.end(), samples.begin(), 0.0F);
  return energy < k_silent_power * SoundFeatures::k_hop;
}

}  // namespace

void SpeechDetector::hear(std::span<const std::int16_t> samples) {
  converter_.convert(samples, waiting_);
  std::size_t heard = 0;
  for (; heard + SoundFeatures::k_hop <= waiting_.size(); heard += SoundFeatures::k_hop)
    hear_frame(std::span<const float, SoundFeatures::k_hop>(waiting_.data() + heard,
                                                            SoundFeatures::k_hop));
  waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(heard));
}

void SpeechDetector::hear_frame(std::span<const float, SoundFeatures::k_hop> samples) {
  ++frames_;
  silent_frames_ = is_silent(samples) ? std::min(silent_frames_ + 1, k_silent_frames + 1) : 0;
  if (silent_frames_ > k_silent_frames) return;
  if (silent_frames_ == k_silent_frames) {
    features_.restart();
    state_ = {};
    answers_ = 0;
    likelihood_ = 0;
    speaks_ = false;
    return;
  }
  const float answer = DetectorNet::trained()(state_, features_.next(samples));
  likelihood_ = answers_ < k_first_counted ? 0 : answer;
  ++answers_;
  speaks_ = likelihood_ >= (speaks_ ? k_end : k_begin);
  if (speaks_) last_speech_ = (frames_ - DetectorNet::k_delay) * k_frame;
}

}  // namespace navtalk
