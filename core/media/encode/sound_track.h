// The sound of a video: a file's own audio, at its own rate and channels where the codec has them,
// encoded step by step beside the pictures. One thread owns it. Private to core/media.
#pragma once

#include <filesystem>
#include <stop_token>

#include "core/media/decode/stream_decoder.h"
#include "core/media/encode/muxer.h"
#include "core/media/encode/video_format.h"
#include "core/media/limits.h"

namespace navtalk::media {

struct SoundSource {
  std::filesystem::path file{};
  double start_s = 0;  // what lies before it is left out
  std::stop_token stop{};
  MediaLimits limits{};
};

class SoundTrack {
 public:
  // Errors as decode_audio's for the source. The muxer must outlive the track.
  SoundTrack(const SoundSource& source, SoundCodec codec, Muxer& muxer);

  // Encodes what is complete before `seconds`; silence once the source has ended.
  void advance(double seconds);
  // The last samples, so that the track ends at `seconds`.
  void finish(double seconds);

 private:
  void open_encoder(SoundCodec codec);
  void skip(std::int64_t samples);  // of what is pending
  void set_resampler(const AVFrame& frame);
  void fill(int samples);  // into pending_, so that it holds at least so many
  void decode_more();
  void encode(int samples);

  std::filesystem::path path_;
  StreamDecoder source_;
  Muxer& muxer_;
  CodecPtr encoder_;
  AVStream* stream_ = nullptr;
  ResamplerPtr resampler_;
  AudioFifoPtr pending_;  // in the encoder's format
  FramePtr decoded_ = make_frame(), converted_ = make_frame(), frame_ = make_frame();
  bool source_ended_ = false;
  int step_ = 0;  // samples in one call of the encoder
  double start_s_;
  std::int64_t encoded_ = 0;  // samples
};

}  // namespace navtalk::media
