#include "core/media/decode/audio.h"

#include <soxr.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <optional>

#include "core/base/error.h"
#include "core/media/decode/ogg_end.h"
#include "core/media/decode/open_media.h"
#include "core/media/decode/resampler.h"
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

// Over all channels: an hour of eight channels at 96 kHz has fewer.
constexpr std::int64_t k_most_samples = std::int64_t{1} << 32;

// What the frames of a recording become, one after the other.
class Decoding {
 public:
  Decoding(const std::filesystem::path& path, const MediaLimits& limits, int rate_hz)
      : path_(path), limits_(limits), audio_{.rate_hz = rate_hz} {}

  void add(const media::StreamDecoder& decoder, const AVFrame& frame) {
    if (from_hz_ == 0) start(decoder, frame);
    if (from_hz_ != frame.sample_rate)
      throw Error(Code::invalid, path_.string() + " changes its sample rate in the middle");
    if (frame.pts != AV_NOPTS_VALUE) note_gap(decoder.seconds(frame.pts));
    count(frame);
    mono_.clear();
    try {
      append_mono(frame, mono_);
    } catch (const Error& error) {
      throw error.within(path_.string());
    }
    resampler_->add(mono_, audio_.samples);
  }
  Audio finish() {
    if (taken_ == 0) throw Error(Code::invalid, path_.string() + " holds no sound at all");
    resampler_->finish(audio_.samples);
    return std::move(audio_);
  }
  double decoded_s() const { return static_cast<double>(taken_) / from_hz_; }

 private:
  void start(const media::StreamDecoder& decoder, const AVFrame& frame) {
    from_hz_ = frame.sample_rate;
    if (audio_.rate_hz == 0) audio_.rate_hz = from_hz_;
    resampler_.emplace(from_hz_, audio_.rate_hz);
    const double announced_s =
        std::clamp(media::announced_seconds(decoder.container(), decoder.stream()), 0.0,
                   limits_.max_duration_s);
    const std::int64_t announced = std::llround(announced_s * from_hz_);
    check_values(announced * frame.ch_layout.nb_channels);
    audio_.samples.reserve(resampler_->length_of(announced));
  }

  void check_values(std::int64_t values) const {
    if (values > k_most_samples)
      throw Error(Code::invalid, path_.string() + " has more than 2^32 samples in its channels");
  }

  // Before the frame takes any room.
  void count(const AVFrame& frame) {
    media::check_sound(frame.sample_rate, frame.ch_layout.nb_channels, path_);
    taken_ += frame.nb_samples;
    values_ += std::int64_t{frame.nb_samples} * frame.ch_layout.nb_channels;
    check_values(values_);
    media::check_duration(decoded_s(), limits_, path_);
  }

  // Names the place when sound is missing before a frame that starts at `start_s`.
  void note_gap(double start_s) {
    if (!audio_.damage.empty() || start_s < decoded_s() + k_slack_s) return;
    audio_.damage = path_.string() + " is damaged: no sound from " + seconds(decoded_s()) + " to " +
                    seconds(start_s);
  }

  const std::filesystem::path& path_;
  const MediaLimits& limits_;
  Audio audio_;
  int from_hz_ = 0;
  std::int64_t taken_ = 0, values_ = 0;  // samples of the recording: mono; over all channels
  std::vector<float> mono_;
  std::optional<media::Resampler> resampler_;
};

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
                   const MediaLimits& limits, int rate_hz) {
  media::StreamDecoder decoder({.path = path,
                                .type = AVMEDIA_TYPE_AUDIO,
                                .damage = media::StreamDecoder::Damage::cut_at_end,
                                .stop = stop,
                                .limits = limits});
  Decoding decoding(path, limits, rate_hz);
  const media::FramePtr frame = media::make_frame();
  while (decoder.next(*frame)) decoding.add(decoder, *frame);
  Audio audio = decoding.finish();
  if (audio.damage.empty()) audio.damage = missing_wav_end(path, decoder, decoding.decoded_s());
  if (audio.damage.empty() && media::is_cut_ogg(path))
    audio.damage = path.string() + " is damaged: it ends after " + seconds(decoding.decoded_s()) +
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
