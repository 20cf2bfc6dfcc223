#include "core/media/decode/mono_samples.h"

#include <cmath>
#include <cstdint>
#include <cstring>

#include "core/base/error.h"

namespace navtalk::media {
namespace {

// One sample of FFmpeg's format as float: an N-bit integer divided by 2^(N-1). Each is exact but
// that of 32-bit integers and doubles, which round once.
template <class Sample>
float to_float(Sample sample) {
  return static_cast<float>(sample);
}
template <>
float to_float(std::uint8_t sample) {
  return static_cast<float>(sample - 128) / 128.0F;
}
template <>
float to_float(std::int16_t sample) {
  return static_cast<float>(sample) / 32768.0F;
}
template <>
float to_float(std::int32_t sample) {
  return static_cast<float>(sample) / 2147483648.0F;
}
template <>
float to_float(std::int64_t sample) {
  return static_cast<float>(sample) / 9223372036854775808.0F;
}

// Full scale is 1. Powers of spectra are finite up to here; one sample that is not would spoil the
// features of a whole segment.
constexpr float k_loudest = 1e9F;

template <class Sample>
void append(const AVFrame& frame, std::vector<float>& mono) {
  const int channels = frame.ch_layout.nb_channels;
  const bool planar = av_sample_fmt_is_planar(static_cast<AVSampleFormat>(frame.format)) != 0;
  const auto sample = [&](int channel, int i) {
    Sample value;
    const std::uint8_t* plane = frame.extended_data[planar ? channel : 0];
    const std::size_t index =
        planar ? static_cast<std::size_t>(i) : static_cast<std::size_t>(i) * channels + channel;
    std::memcpy(&value, plane + index * sizeof value, sizeof value);
    return to_float(value);
  };
  for (int i = 0; i < frame.nb_samples; ++i) {
    float sum = 0;
    for (int channel = 0; channel < channels; ++channel) sum += sample(channel, i);
    const float mean = sum / static_cast<float>(channels);
    if (!(std::abs(mean) <= k_loudest))  // nor is it NaN
      throw Error(Code::invalid, "it holds samples that are not numbers, or far too large");
    mono.push_back(mean);
  }
}

}  // namespace

void append_mono(const AVFrame& frame, std::vector<float>& mono) {
  switch (av_get_packed_sample_fmt(static_cast<AVSampleFormat>(frame.format))) {
    case AV_SAMPLE_FMT_U8:
      return append<std::uint8_t>(frame, mono);
    case AV_SAMPLE_FMT_S16:
      return append<std::int16_t>(frame, mono);
    case AV_SAMPLE_FMT_S32:
      return append<std::int32_t>(frame, mono);
    case AV_SAMPLE_FMT_S64:
      return append<std::int64_t>(frame, mono);
    case AV_SAMPLE_FMT_FLT:
      return append<float>(frame, mono);
    case AV_SAMPLE_FMT_DBL:
      return append<double>(frame, mono);
    default:
      throw Error(Code::invalid, "its samples have a format that is not known");
  }
}

}  // namespace navtalk::media
