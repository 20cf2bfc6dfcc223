// The sound of an MP4: a file's own audio, at its own rate and channels where AAC has them, encoded
// to AAC step by step beside the video. One thread owns it. Private to core/media.
#pragma once

#include <filesystem>
#include <stop_token>

#include "core/media/decode/stream_decoder.h"
#include "core/media/encode/muxer.h"

namespace navtalk::media {

class AacTrack {
 public:
  // Errors as decode_audio's for the source. The muxer must outlive the track.
  AacTrack(const std::filesystem::path& source, std::stop_token stop, Muxer& muxer);

  // Encodes what is complete before `seconds`; silence once the source has ended.
  void advance(double seconds);
  // The last samples, so that the track ends at `seconds`.
  void finish(double seconds);

 private:
  void open_encoder();
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
  std::int64_t encoded_ = 0;  // samples
};

}  // namespace navtalk::media
