#include "core/media/encode/jpeg.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <new>

#include "core/base/check.h"
#include "core/base/error.h"
#include "core/media/ffmpeg.h"

namespace navtalk::media {
namespace {

constexpr int k_quality = 2;  // FFmpeg's scale: 2 is the best, 31 the worst

CodecPtr open_jpeg_encoder(ConstImageView image) {
  const AVCodec* encoder = avcodec_find_encoder(AV_CODEC_ID_MJPEG);
  CodecPtr codec(avcodec_alloc_context3(encoder));
  if (!codec) throw std::bad_alloc();
  codec->width = image.width;
  codec->height = image.height;
  codec->pix_fmt = AV_PIX_FMT_YUVJ444P;
  codec->color_range = AVCOL_RANGE_JPEG;
  codec->time_base = {1, 25};  // asked for, but a JPEG has none
  codec->thread_count = 1;
  codec->flags |= AV_CODEC_FLAG_QSCALE;
  codec->global_quality = k_quality * FF_QP2LAMBDA;
  if (const int rc = avcodec_open2(codec.get(), encoder, nullptr); rc < 0)
    throw Error(Code::failed, reason(rc));
  return codec;
}

// JFIF's colours: BT.601 in full range.
std::array<double, 3> jfif(const std::uint8_t* bgr) {
  const double luma = 0.299 * bgr[2] + 0.587 * bgr[1] + 0.114 * bgr[0];
  return {luma, 128 + (bgr[0] - luma) / 1.772, 128 + (bgr[2] - luma) / 1.402};
}

FramePtr jfif_frame(ConstImageView image) {
  FramePtr frame = make_frame();
  frame->format = AV_PIX_FMT_YUVJ444P;
  frame->color_range = AVCOL_RANGE_JPEG;
  frame->width = image.width;
  frame->height = image.height;
  frame->quality = k_quality * FF_QP2LAMBDA;
  if (av_frame_get_buffer(frame.get(), 0) < 0) throw std::bad_alloc();
  for (int y = 0; y < image.height; ++y) {
    for (int x = 0; x < image.width; ++x) {
      const std::array<double, 3> values = jfif(image.at(x, y));
      for (std::size_t plane = 0; plane < values.size(); ++plane) {
        std::uint8_t* row = frame->data[plane] + std::ptrdiff_t{y} * frame->linesize[plane];
        row[x] = static_cast<std::uint8_t>(std::lround(std::clamp(values[plane], 0.0, 255.0)));
      }
    }
  }
  return frame;
}

}  // namespace

std::vector<std::uint8_t> encode_jpeg(ConstImageView image) {
  NAVTALK_CHECK(image.channels == 3);
  capture_log();
  const CodecPtr codec = open_jpeg_encoder(image);
  const FramePtr frame = jfif_frame(image);
  const PacketPtr packet = make_packet();
  int rc = avcodec_send_frame(codec.get(), frame.get());
  if (rc >= 0) rc = avcodec_receive_packet(codec.get(), packet.get());
  if (rc < 0) throw Error(Code::failed, reason(rc));
  return {packet->data, packet->data + packet->size};
}

}  // namespace navtalk::media
