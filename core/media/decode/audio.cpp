#include "core/media/decode/audio.h"

#include <soxr.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "core/base/error.h"
#include "core/media/decode/ogg_end.h"
#include "core/media/decode/open_media.h"
#include "core/media/decode/stream_decoder.h"
#include "core/media/decode/wav_length.h"

namespace navtalk {
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

// Appends the mean over channels, summed in float32 in channel order.
template <class Sample>
void append_mono(const AVFrame& frame, std::vector<float>& mono) {
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

void append_mono(const AVFrame& frame, std::vector<float>& mono) {
  switch (av_get_packed_sample_fmt(static_cast<AVSampleFormat>(frame.format))) {
    case AV_SAMPLE_FMT_U8:
      return append_mono<std::uint8_t>(frame, mono);
    case AV_SAMPLE_FMT_S16:
      return append_mono<std::int16_t>(frame, mono);
    case AV_SAMPLE_FMT_S32:
      return append_mono<std::int32_t>(frame, mono);
    case AV_SAMPLE_FMT_S64:
      return append_mono<std::int64_t>(frame, mono);
    case AV_SAMPLE_FMT_FLT:
      return append_mono<float>(frame, mono);
    case AV_SAMPLE_FMT_DBL:
      return append_mono<double>(frame, mono);
    default:
      throw Error(Code::invalid, "its samples have a format that is not known");
  }
}

}  // namespace

namespace {

constexpr double k_slack_s = 0.25;  // timestamps are rounded, and codecs start late

std::string seconds(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.2f s", value);
  return text.data();
}

// Names the place when sound is missing before a frame that starts at `start_s`.
void note_gap(const std::filesystem::path& path, double start_s, Audio& audio) {
  if (!audio.damage.empty() || start_s < audio.duration_s() + k_slack_s) return;
  audio.damage = path.string() + " is damaged: no sound from " + seconds(audio.duration_s()) +
                 " to " + seconds(start_s);
}

// FFmpeg takes a WAV file for as long as it is, whatever its header says.
std::string missing_wav_end(const std::filesystem::path& path, const media::StreamDecoder& decoder,
                            double decoded_s) {
  const auto announced = media::announced_wav_bytes(path);
  const std::int64_t rate = decoder.stream().codecpar->bit_rate / 8;
  if (!announced || rate <= 0) return {};
  const double announced_s = static_cast<double>(*announced) / static_cast<double>(rate);
  if (decoded_s >= announced_s - k_slack_s) return {};
  return path.string() + " is damaged: it ends after " + seconds(decoded_s) + " and should last " +
         seconds(announced_s);
}

}  // namespace

Audio decode_audio(const std::filesystem::path& path, const std::stop_token& stop,
                   const MediaLimits& limits) {
  media::StreamDecoder decoder({.path = path,
                                .type = AVMEDIA_TYPE_AUDIO,
                                .damage = media::StreamDecoder::Damage::cut_at_end,
                                .stop = stop,
                                .limits = limits});
  Audio audio;
  const media::FramePtr frame = media::make_frame();
  while (decoder.next(*frame)) {
    if (audio.rate_hz == 0) audio.rate_hz = frame->sample_rate;
    if (audio.rate_hz != frame->sample_rate)
      throw Error(Code::invalid, path.string() + " changes its sample rate in the middle");
    if (frame->pts != AV_NOPTS_VALUE) note_gap(path, decoder.seconds(frame->pts), audio);
    try {
      append_mono(*frame, audio.samples);
    } catch (const Error& error) {
      throw error.within(path.string());
    }
    media::check_duration(audio.duration_s(), limits, path);
  }
  if (audio.samples.empty()) throw Error(Code::invalid, path.string() + " holds no sound at all");
  if (audio.damage.empty()) audio.damage = missing_wav_end(path, decoder, audio.duration_s());
  if (audio.damage.empty() && media::is_cut_ogg(path))
    audio.damage = path.string() + " is damaged: it ends after " + seconds(audio.duration_s()) +
                   " without the mark of an Ogg stream's end";
  if (audio.damage.empty() && decoder.damage()) audio.damage = decoder.damage()->message();
  return audio;
}

Audio resample(const Audio& audio, int rate_hz) {
  if (audio.rate_hz <= 0 || rate_hz <= 0)
    throw Error(Code::invalid, "sound cannot be resampled from " + std::to_string(audio.rate_hz) +
                                   " Hz to " + std::to_string(rate_hz) + " Hz");
  if (audio.rate_hz == rate_hz) return audio;
  // The reference's order: the ratio first, in double.
  const double ratio = static_cast<double>(rate_hz) / audio.rate_hz;
  const double length = std::ceil(static_cast<double>(audio.samples.size()) * ratio);
  Audio result{.rate_hz = rate_hz, .samples = std::vector<float>(static_cast<std::size_t>(length))};
  const soxr_io_spec_t io = soxr_io_spec(SOXR_FLOAT32_I, SOXR_FLOAT32_I);
  const soxr_quality_spec_t quality = soxr_quality_spec(SOXR_HQ, 0);
  // libsoxr may give one sample fewer than this length; that one stays zero.
  const soxr_error_t error =
      soxr_oneshot(audio.rate_hz, rate_hz, 1, audio.samples.data(), audio.samples.size(), nullptr,
                   result.samples.data(), result.samples.size(), nullptr, &io, &quality, nullptr);
  if (error != nullptr) throw Error(Code::failed, std::string("resampling sound: ") + error);
  return result;
}

}  // namespace navtalk
