#include "core/media/decode/audio.h"

#include <soxr.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <optional>

#include "core/base/error.h"
#include "core/media/decode/mono_samples.h"
#include "core/media/decode/ogg_end.h"
#include "core/media/decode/open_media.h"
#include "core/media/decode/resampler.h"
#include "core/media/decode/sound_count.h"
#include "core/media/decode/stream_decoder.h"
#include "core/media/decode/wav_length.h"

namespace navtalk {
namespace {

constexpr double k_slack_s = 0.25;      // timestamps are rounded, and codecs start late
constexpr double k_least_lack_s = 0.1;  // a gateway refuses what lacks as much

std::string seconds(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.2f s", value);
  return text.data();
}

// What the frames of a recording become, one after the other.
class Decoding {
 public:
  Decoding(const std::filesystem::path& path, const MediaLimits& limits, int rate_hz)
      : path_(path), limits_(limits), audio_{.rate_hz = rate_hz}, count_(path, limits) {}

  void add(const media::StreamDecoder& decoder, const AVFrame& frame) {
    if (!resampler_) start(decoder, frame);
    if (frame.pts != AV_NOPTS_VALUE) note_gap(decoder.seconds(frame.pts));
    count_.add(frame);
    mono_.clear();
    try {
      media::append_mono(frame, mono_);
    } catch (const Error& error) {
      throw error.within(path_.string());
    }
    resampler_->add(mono_, audio_.samples);
  }
  Audio finish() {
    count_.finish();
    resampler_->finish(audio_.samples);
    return std::move(audio_);
  }
  double decoded_s() const { return count_.seconds(); }

 private:
  void start(const media::StreamDecoder& decoder, const AVFrame& frame) {
    if (audio_.rate_hz == 0) audio_.rate_hz = frame.sample_rate;
    resampler_.emplace(frame.sample_rate, audio_.rate_hz);
    const double announced_s =
        std::clamp(media::announced_seconds(decoder.container(), decoder.stream()), 0.0,
                   limits_.max_duration_s);
    const std::int64_t announced = std::llround(announced_s * frame.sample_rate);
    count_.check_values(announced * frame.ch_layout.nb_channels);
    audio_.samples.reserve(resampler_->length_of(announced));
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
  media::SoundCount count_;
  std::vector<float> mono_;
  std::optional<media::Resampler> resampler_;
};

// FFmpeg takes a WAV file for as long as it is, whatever its header says.
std::string missing_wav_end(const std::filesystem::path& path, const media::StreamDecoder& decoder,
                            double decoded_s) {
  const auto bytes = media::wav_bytes(path);
  const auto rate = static_cast<double>(decoder.stream().codecpar->bit_rate / 8);
  if (!bytes || rate <= 0) return {};
  const double announced_s = static_cast<double>(bytes->announced) / rate;
  if (static_cast<double>(bytes->present) / rate >= announced_s - k_least_lack_s) return {};
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
  const std::string missing = missing_wav_end(path, decoder, decoding.decoded_s());
  audio.cut = !missing.empty();
  if (audio.damage.empty()) audio.damage = missing;
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
