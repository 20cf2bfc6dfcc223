#include "core/media/encode/sound_track.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <new>
#include <utility>

#include "core/base/error.h"
#include "core/media/decode/open_media.h"

namespace navtalk::media {
namespace {

constexpr int k_base_bit_rate = 32'000, k_channel_bit_rate = 64'000;
constexpr int k_step = 1024;  // samples, of encoders that take any number

const char* encoder_name(SoundCodec codec) {
  switch (codec) {
    case SoundCodec::opus:
      return "libopus";
    case SoundCodec::pcm:
      return "pcm_s16le";
    case SoundCodec::aac:
    case SoundCodec::none:
      break;
  }
  return "aac";
}

// The rate itself where the codec has it, otherwise the nearest one above, otherwise the highest.
int possible_rate(const AVCodec& encoder, int rate_hz) {
  if (encoder.supported_samplerates == nullptr) return rate_hz;
  int best = 0;
  for (const int* rate = encoder.supported_samplerates; *rate != 0; ++rate) {
    const bool better = best < rate_hz ? *rate > best : *rate >= rate_hz && *rate < best;
    if (best == 0 || better) best = *rate;
  }
  return best;
}

// FFmpeg's encoders have one layout for each count up to six channels, and 7.1.
AVChannelLayout possible_layout(int channels) {
  AVChannelLayout layout = {};
  av_channel_layout_default(&layout,
                            channels <= 2 || channels == 6 || channels == 8 ? channels : 2);
  return layout;
}

std::int64_t to_samples(double seconds, int rate_hz) { return std::llround(seconds * rate_hz); }

}  // namespace

SoundTrack::SoundTrack(const SoundSource& source, SoundCodec codec, Muxer& muxer)
    : path_(source.file),
      source_({.path = source.file,
               .type = AVMEDIA_TYPE_AUDIO,
               .damage = StreamDecoder::Damage::cut_at_end,
               .stop = source.stop,
               .limits = source.limits}),
      muxer_(muxer),
      start_s_(source.start_s) {
  open_encoder(codec);
  stream_ = &muxer_.add_stream(*encoder_);
  pending_.reset(av_audio_fifo_alloc(encoder_->sample_fmt, encoder_->ch_layout.nb_channels, step_));
  if (!pending_) throw std::bad_alloc();
}

void SoundTrack::open_encoder(SoundCodec codec) {
  const char* name = encoder_name(codec);
  const AVCodec* found = avcodec_find_encoder_by_name(name);
  if (found == nullptr)
    throw Error(Code::failed, std::string("this FFmpeg was built without ") + name);
  encoder_.reset(avcodec_alloc_context3(found));
  if (!encoder_) throw std::bad_alloc();
  encoder_->sample_fmt = found->sample_fmts[0];
  encoder_->sample_rate = possible_rate(*found, source_.codec().sample_rate);
  encoder_->ch_layout = possible_layout(source_.codec().ch_layout.nb_channels);
  encoder_->bit_rate = k_base_bit_rate + k_channel_bit_rate * encoder_->ch_layout.nb_channels;
  encoder_->time_base = {1, encoder_->sample_rate};
  encoder_->flags |= AV_CODEC_FLAG_GLOBAL_HEADER | AV_CODEC_FLAG_BITEXACT;
  const int rc = avcodec_open2(encoder_.get(), found, nullptr);
  if (rc < 0)
    throw Error(Code::failed,
                path_.string() + ": " + name + " cannot code this sound: " + reason(rc));
  step_ = encoder_->frame_size > 0 ? encoder_->frame_size : k_step;
}

void SoundTrack::set_resampler(const AVFrame& frame) {
  SwrContext* context = nullptr;
  AVChannelLayout source_layout = frame.ch_layout;  // only read, but not declared so
  int rc = swr_alloc_set_opts2(
      &context, &encoder_->ch_layout, encoder_->sample_fmt, encoder_->sample_rate, &source_layout,
      static_cast<AVSampleFormat>(frame.format), frame.sample_rate, 0, nullptr);
  resampler_.reset(context);
  if (rc >= 0) rc = swr_init(context);
  throw_if_no_memory(rc, path_);
  if (rc < 0)
    throw Error(Code::invalid, path_.string() + ": its sound cannot be converted: " + reason(rc));
}

void SoundTrack::advance(double seconds) {
  const std::int64_t end = to_samples(seconds, encoder_->sample_rate);
  while (encoded_ + step_ <= end) encode(step_);
}

void SoundTrack::finish(double seconds) {
  advance(seconds);
  const std::int64_t rest = to_samples(seconds, encoder_->sample_rate) - encoded_;
  if (rest > 0) encode(static_cast<int>(rest));
  send(*encoder_, nullptr);
  muxer_.drain(*encoder_, *stream_);
}

void SoundTrack::skip(std::int64_t samples) {
  while (samples > 0) {
    fill(step_);
    const int some =
        static_cast<int>(std::min<std::int64_t>(samples, av_audio_fifo_size(pending_.get())));
    if (some == 0) return;  // the source ends before
    av_audio_fifo_drain(pending_.get(), some);
    samples -= some;
  }
}

void SoundTrack::encode(int samples) {
  skip(to_samples(std::exchange(start_s_, 0), encoder_->sample_rate));
  fill(samples);
  av_frame_unref(frame_.get());
  frame_->format = encoder_->sample_fmt;
  frame_->sample_rate = encoder_->sample_rate;
  frame_->nb_samples = samples;
  av_channel_layout_copy(&frame_->ch_layout, &encoder_->ch_layout);
  if (av_frame_get_buffer(frame_.get(), 0) < 0) throw std::bad_alloc();
  void** planes = reinterpret_cast<void**>(frame_->extended_data);
  const int have = av_audio_fifo_read(pending_.get(), planes, samples);
  av_samples_set_silence(frame_->extended_data, std::max(have, 0), samples - std::max(have, 0),
                         frame_->ch_layout.nb_channels, encoder_->sample_fmt);
  frame_->pts = encoded_;
  send(*encoder_, frame_.get());
  muxer_.drain(*encoder_, *stream_);
  encoded_ += samples;
}

void SoundTrack::fill(int samples) {
  while (!source_ended_ && av_audio_fifo_size(pending_.get()) < samples) decode_more();
}

void SoundTrack::decode_more() {
  source_ended_ = !source_.next(*decoded_);
  if (source_ended_ && !resampler_) return;
  // A WAV of one or two channels does not say which; libswresample would take that for a change.
  if (!source_ended_ && decoded_->ch_layout.order == AV_CHANNEL_ORDER_UNSPEC)
    av_channel_layout_default(&decoded_->ch_layout, decoded_->ch_layout.nb_channels);
  if (!resampler_) set_resampler(*decoded_);
  av_frame_unref(converted_.get());
  converted_->format = encoder_->sample_fmt;
  converted_->sample_rate = encoder_->sample_rate;
  av_channel_layout_copy(&converted_->ch_layout, &encoder_->ch_layout);
  // At the end, what the resampler still holds.
  const int rc = swr_convert_frame(resampler_.get(), converted_.get(),
                                   source_ended_ ? nullptr : decoded_.get());
  throw_if_no_memory(rc, path_);
  if (rc < 0)
    throw Error(Code::invalid, path_.string() + " changes its format in the middle: " + reason(rc));
  void** planes = reinterpret_cast<void**>(converted_->extended_data);
  if (converted_->nb_samples > 0 &&
      av_audio_fifo_write(pending_.get(), planes, converted_->nb_samples) < 0)
    throw std::bad_alloc();
}

}  // namespace navtalk::media
