#include "core/media/decode/sound_count.h"

#include "core/base/error.h"
#include "core/media/decode/open_media.h"

namespace navtalk::media {
namespace {

// Over all channels: an hour of eight channels at 96 kHz has fewer.
constexpr std::int64_t k_most_samples = std::int64_t{1} << 32;

}  // namespace

void SoundCount::add(const AVFrame& frame) {
  if (rate_hz_ == 0) rate_hz_ = frame.sample_rate;
  if (rate_hz_ != frame.sample_rate)
    throw Error(Code::invalid, path_.string() + " changes its sample rate in the middle");
  check_sound(frame.sample_rate, frame.ch_layout.nb_channels, path_);
  taken_ += frame.nb_samples;
  values_ += std::int64_t{frame.nb_samples} * frame.ch_layout.nb_channels;
  check_values(values_);
  check_duration(seconds(), limits_, path_);
}

void SoundCount::check_values(std::int64_t values) const {
  if (values > k_most_samples)
    throw BeyondLimit(k_sampling_rule,
                      path_.string() + " has more than 2^32 samples in its channels");
}

void SoundCount::finish() const {
  if (taken_ == 0) throw Error(Code::invalid, path_.string() + " holds no sound at all");
}

}  // namespace navtalk::media
