#include "core/media/encode/opus_stream.h"

extern "C" {
#include <libavutil/opt.h>
}

#include <algorithm>
#include <new>
#include <string>

#include "core/base/error.h"
#include "core/media/encode/muxer.h"
#include "core/media/ffmpeg.h"

namespace navtalk {
namespace {

constexpr std::int64_t k_speech_bit_per_s = 48'000;
constexpr AVSampleFormat k_format = AV_SAMPLE_FMT_S16;

media::CodecPtr open_opus() {
  media::capture_log();
  const AVCodec* opus = avcodec_find_encoder_by_name("libopus");
  if (opus == nullptr) throw Error(Code::failed, "this FFmpeg was built without libopus");
  media::CodecPtr encoder(avcodec_alloc_context3(opus));
  if (!encoder) throw std::bad_alloc();
  encoder->sample_fmt = k_format;
  encoder->sample_rate = k_opus_rate_hz;
  av_channel_layout_default(&encoder->ch_layout, 1);
  encoder->bit_rate = k_speech_bit_per_s;
  encoder->time_base = {1, k_opus_rate_hz};
  encoder->flags |= AV_CODEC_FLAG_BITEXACT;
  av_opt_set(encoder->priv_data, "frame_duration", "20", 0);
  const int rc = avcodec_open2(encoder.get(), opus, nullptr);
  if (rc < 0) throw Error(Code::failed, "libopus cannot start: " + media::reason(rc));
  return encoder;
}

media::ResamplerPtr open_resampler(int rate_hz) {
  SwrContext* context = nullptr;
  AVChannelLayout mono;
  av_channel_layout_default(&mono, 1);
  int rc = swr_alloc_set_opts2(&context, &mono, k_format, k_opus_rate_hz, &mono, k_format, rate_hz,
                               0, nullptr);
  media::ResamplerPtr resampler(context);
  if (rc >= 0) rc = swr_init(context);
  if (rc < 0) {
    throw Error(Code::failed, "sound of " + std::to_string(rate_hz) +
                                  " Hz cannot be resampled: " + media::reason(rc));
  }
  return resampler;
}

}  // namespace

// One sound: the encoder and the resampler begin anew with each.
struct OpusStream::Impl {
  explicit Impl(int rate) : rate_hz(rate) { begin(); }

  void begin() {
    encoder = open_opus();
    resampler = open_resampler(rate_hz);
    pending.clear();
    given = 0;
    packets = 0;
  }

  // Null: what the resampler still holds.
  void resample(const std::int16_t* samples, int count) {
    const int most = swr_get_out_samples(resampler.get(), count);
    const std::size_t before = pending.size();
    pending.resize(before + static_cast<std::size_t>(most));
    auto* out = reinterpret_cast<std::uint8_t*>(pending.data() + before);
    const auto* in = reinterpret_cast<const std::uint8_t*>(samples);
    const int made = swr_convert(resampler.get(), &out, most, samples ? &in : nullptr, count);
    if (made < 0) throw Error(Code::failed, "sound cannot be resampled: " + media::reason(made));
    pending.resize(before + static_cast<std::size_t>(made));
  }

  void code_whole_frames(std::vector<OpusPacket>& out) {
    const auto whole = static_cast<std::size_t>(encoder->frame_size);
    std::size_t done = 0;
    for (; pending.size() - done >= whole; done += whole) {
      frame->format = encoder->sample_fmt;
      frame->sample_rate = encoder->sample_rate;
      frame->nb_samples = encoder->frame_size;
      av_channel_layout_copy(&frame->ch_layout, &encoder->ch_layout);
      if (av_frame_get_buffer(frame.get(), 0) < 0) throw std::bad_alloc();
      std::copy_n(pending.data() + done, whole, reinterpret_cast<std::int16_t*>(frame->data[0]));
      frame->pts = given;
      given += encoder->frame_size;
      media::send(*encoder, frame.get());
      av_frame_unref(frame.get());
      take_packets(out);
    }
    pending.erase(pending.begin(), pending.begin() + static_cast<std::ptrdiff_t>(done));
  }

  void take_packets(std::vector<OpusPacket>& out) {
    while (avcodec_receive_packet(encoder.get(), packet.get()) >= 0) {
      const std::int64_t sample = packets++ * encoder->frame_size - encoder->initial_padding;
      out.push_back({.bytes = {packet->data, packet->data + packet->size},
                     .time = std::chrono::microseconds(sample * 1'000'000 / k_opus_rate_hz)});
      av_packet_unref(packet.get());
    }
  }

  const int rate_hz;
  media::CodecPtr encoder;
  media::ResamplerPtr resampler;
  media::FramePtr frame = media::make_frame();
  media::PacketPtr packet = media::make_packet();
  std::vector<std::int16_t> pending{};  // at 48 kHz, less than a frame
  std::int64_t given = 0, packets = 0;  // samples to the encoder, packets from it
};

OpusStream::OpusStream(int rate_hz) : impl_(std::make_unique<Impl>(rate_hz)) {}
OpusStream::~OpusStream() = default;

std::vector<OpusPacket> OpusStream::encode(std::span<const std::int16_t> samples) {
  std::vector<OpusPacket> packets;
  impl_->resample(samples.data(), static_cast<int>(samples.size()));
  impl_->code_whole_frames(packets);
  return packets;
}

// The encoder gives back the last samples that late too, so there is one frame of silence at the end.
std::vector<OpusPacket> OpusStream::finish() {
  std::vector<OpusPacket> packets;
  Impl& own = *impl_;
  if (own.given == 0 && own.pending.empty()) return packets;
  own.resample(nullptr, 0);
  const auto whole = static_cast<std::size_t>(own.encoder->frame_size);
  const std::size_t left =
      own.pending.size() + static_cast<std::size_t>(own.encoder->initial_padding);
  own.pending.resize((left + whole - 1) / whole * whole);
  own.code_whole_frames(packets);
  own.begin();
  return packets;
}

}  // namespace navtalk
