#include "core/media/encode/muxer.h"

#include <cstring>
#include <new>

#include "core/base/error.h"

namespace navtalk::media {

Muxer::Muxer(Target target) : target_(std::move(target)) {
  capture_log();
  // The "file:" keeps FFmpeg from taking a part of the name for a protocol.
  const std::string url = target_.to_standard_output ? "pipe:1" : "file:" + target_.path.string();
  if (avformat_alloc_output_context2(&context_, nullptr, target_.muxer, url.c_str()) < 0)
    throw Error(Code::failed, std::string("this FFmpeg cannot write ") + target_.muxer);
  context_->flags |= AVFMT_FLAG_BITEXACT;  // no version, no date
  const int rc = avio_open(&context_->pb, url.c_str(), AVIO_FLAG_WRITE);
  if (rc >= 0) return;
  avformat_free_context(context_);
  fail(rc);
}

Muxer::~Muxer() {
  avio_closep(&context_->pb);
  avformat_free_context(context_);
}

AVStream& Muxer::add_stream(const AVCodecContext& encoder) {
  AVStream* stream = avformat_new_stream(context_, nullptr);
  if (stream == nullptr) throw std::bad_alloc();
  check(avcodec_parameters_from_context(stream->codecpar, &encoder));
  stream->time_base = encoder.time_base;
  stream->avg_frame_rate = encoder.framerate;
  return *stream;
}

AVStream& Muxer::add_stream(const AVCodecParameters& codec, AVRational frame) {
  AVStream* stream = avformat_new_stream(context_, nullptr);
  if (stream == nullptr) throw std::bad_alloc();
  check(avcodec_parameters_copy(stream->codecpar, &codec));
  stream->codecpar->codec_tag = 0;  // the container's own
  stream->time_base = frame;
  stream->avg_frame_rate = av_inv_q(frame);
  return *stream;
}

void Muxer::start() {
  AVDictionary* options = nullptr;
  const bool indexed =
      std::strcmp(target_.muxer, "mp4") == 0 || std::strcmp(target_.muxer, "mov") == 0;
  if (target_.to_standard_output) {
    av_dict_set(&options, "movflags", "+frag_keyframe+empty_moov+default_base_moof", 0);
    av_dict_set(&options, "frag_duration", "500000", 0);  // microseconds
  } else if (indexed) {
    av_dict_set(&options, "movflags", "+faststart", 0);
  } else if (std::strcmp(target_.muxer, "webp") == 0) {
    av_dict_set(&options, "loop", "0", 0);  // without end, as FFmpeg's GIFs; by default once
  }
  const int rc = avformat_write_header(context_, &options);
  av_dict_free(&options);
  check(rc);
}

void Muxer::drain(AVCodecContext& encoder, const AVStream& stream) {
  for (;;) {
    const int rc = avcodec_receive_packet(&encoder, packet_.get());
    if (rc == AVERROR(EAGAIN) || rc == AVERROR_EOF) return;
    check(rc);
    if (packet_->duration == 0 && encoder.codec_type == AVMEDIA_TYPE_VIDEO) packet_->duration = 1;
    write(*packet_, stream, encoder.time_base);
  }
}

void Muxer::write(AVPacket& packet, const AVStream& stream, AVRational unit) {
  packet.stream_index = stream.index;
  av_packet_rescale_ts(&packet, unit, stream.time_base);
  check(av_interleaved_write_frame(context_, &packet));
}

void Muxer::finish() {
  check(av_write_trailer(context_));
  check(context_->pb->error);
  check(avio_closep(&context_->pb));
}

void Muxer::fail(int error_code) const {
  const std::string name = target_.to_standard_output ? "standard output" : target_.path.string();
  throw Error(Code::failed, name + " cannot be written: " + reason(error_code));
}

void Muxer::check(int error_code) const {
  if (error_code < 0) fail(error_code);
}

void send(AVCodecContext& encoder, const AVFrame* frame) {
  const int rc = avcodec_send_frame(&encoder, frame);
  if (rc < 0)
    throw Error(Code::failed, std::string(encoder.codec->name) + " cannot encode: " + reason(rc));
}

}  // namespace navtalk::media
