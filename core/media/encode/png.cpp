#include "core/media/encode/png.h"

extern "C" {
#include <libavutil/opt.h>
}

#include <algorithm>
#include <new>

#include "core/base/check.h"
#include "core/base/error.h"
#include "core/media/ffmpeg.h"

namespace navtalk::media {
namespace {

CodecPtr open_encoder(ConstImageView image) {
  const AVCodec* encoder = avcodec_find_encoder(AV_CODEC_ID_PNG);
  CodecPtr codec(avcodec_alloc_context3(encoder));
  if (!codec) throw std::bad_alloc();
  codec->width = image.width;
  codec->height = image.height;
  codec->pix_fmt = image.channels == 1 ? AV_PIX_FMT_GRAY8 : AV_PIX_FMT_RGB24;
  codec->time_base = {1, 25};  // asked for, but a PNG has none
  codec->thread_count = 1;
  codec->compression_level = 1;  // the fastest: photographs gain little from more
  av_opt_set(codec->priv_data, "pred", "sub", 0);
  if (const int rc = avcodec_open2(codec.get(), encoder, nullptr); rc < 0)
    throw Error(Code::failed, reason(rc));
  return codec;
}

FramePtr to_frame(ConstImageView image, AVPixelFormat format) {
  FramePtr frame = make_frame();
  frame->format = format;
  frame->width = image.width;
  frame->height = image.height;
  if (av_frame_get_buffer(frame.get(), 0) < 0) throw std::bad_alloc();
  for (int y = 0; y < image.height; ++y) {
    std::uint8_t* out = frame->data[0] + std::ptrdiff_t{y} * frame->linesize[0];
    const std::uint8_t* in = image.row(y);
    if (image.channels == 1) {
      std::copy_n(in, image.width, out);
      continue;
    }
    for (int x = 0; x < image.width; ++x, in += 3, out += 3) {
      out[0] = in[2];
      out[1] = in[1];
      out[2] = in[0];
    }
  }
  return frame;
}

}  // namespace

std::vector<std::uint8_t> encode_png(ConstImageView image) {
  NAVTALK_CHECK(image.channels == 1 || image.channels == 3);
  capture_log();
  const CodecPtr codec = open_encoder(image);
  const FramePtr frame = to_frame(image, codec->pix_fmt);
  const PacketPtr packet = make_packet();
  int rc = avcodec_send_frame(codec.get(), frame.get());
  if (rc >= 0) rc = avcodec_receive_packet(codec.get(), packet.get());
  if (rc < 0) throw Error(Code::failed, reason(rc));
  return {packet->data, packet->data + packet->size};
}

}  // namespace navtalk::media
