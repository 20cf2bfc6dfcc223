// A media file being written: streams are added, then start(), then packets, then finish(). One
// thread owns it. Private to core/media.
#pragma once

#include <filesystem>

#include "core/media/ffmpeg.h"

namespace navtalk::media {

class Muxer {
 public:
  struct Target {
    std::filesystem::path path{};
    const char* muxer = "mp4";        // FFmpeg's name of the container
    bool to_standard_output = false;  // fragments of MP4, instead of `path`
  };
  explicit Muxer(Target target);  // Error{failed} when it cannot be written
  ~Muxer();
  Muxer(const Muxer&) = delete;
  Muxer& operator=(const Muxer&) = delete;

  AVStream& add_stream(const AVCodecContext& encoder);
  // Pictures that are coded already, `frame` seconds each.
  AVStream& add_stream(const AVCodecParameters& codec, AVRational frame);
  void start();
  // All that `encoder` has ready. The stream is the one that was added for it.
  void drain(AVCodecContext& encoder, const AVStream& stream);
  // One packet, whose times are multiples of `unit` seconds.
  void write(AVPacket& packet, const AVStream& stream, AVRational unit);
  void finish();  // the index, of MP4 and MOV moved to the front

 private:
  [[noreturn]] void fail(int error_code) const;
  void check(int error_code) const;

  Target target_;
  AVFormatContext* context_ = nullptr;
  PacketPtr packet_ = make_packet();
};

// Hands a frame (null at the end) to an encoder.
void send(AVCodecContext& encoder, const AVFrame* frame);

}  // namespace navtalk::media
