#include "core/media/encode/x264_encoder.h"

extern "C" {
#include <libavutil/opt.h>
}

#include <new>
#include <string>

#include "core/base/error.h"

namespace navtalk::media {

namespace {

void set_yuv(AVCodecContext& encoder, const X264Options& options) {
  encoder.pix_fmt = AV_PIX_FMT_YUV420P;
  encoder.color_range = AVCOL_RANGE_MPEG;
  encoder.color_primaries = AVCOL_PRI_BT709;
  encoder.color_trc = AVCOL_TRC_BT709;
  encoder.colorspace = AVCOL_SPC_BT709;
  encoder.chroma_sample_location = options.chroma;
  if (options.bit_per_s > 0) {
    encoder.rc_max_rate = options.bit_per_s;
    encoder.rc_buffer_size = static_cast<int>(options.bit_per_s / 2);
  }
  av_opt_set_double(encoder.priv_data, "crf", options.crf, 0);
}

void set_lossless_rgb(AVCodecContext& encoder) {
  encoder.pix_fmt = AV_PIX_FMT_BGR24;
  encoder.color_range = AVCOL_RANGE_JPEG;
  encoder.colorspace = AVCOL_SPC_RGB;
  av_opt_set_int(encoder.priv_data, "qp", 0, 0);
}

}  // namespace

CodecPtr open_x264(const X264Options& options) {
  capture_log();
  const char* library = options.lossless_rgb ? "libx264rgb" : "libx264";
  const AVCodec* x264 = avcodec_find_encoder_by_name(library);
  if (x264 == nullptr)
    throw Error(Code::failed, std::string("this FFmpeg was built without ") + library);
  CodecPtr encoder(avcodec_alloc_context3(x264));
  if (!encoder) throw std::bad_alloc();
  encoder->width = options.width;
  encoder->height = options.height;
  encoder->time_base = {options.fps.den(), options.fps.num()};
  encoder->framerate = {options.fps.num(), options.fps.den()};
  encoder->thread_count = options.threads;
  encoder->flags |= AV_CODEC_FLAG_GLOBAL_HEADER | AV_CODEC_FLAG_BITEXACT;
  if (options.key_interval > 0) encoder->gop_size = options.key_interval;
  if (options.lossless_rgb)
    set_lossless_rgb(*encoder);
  else
    set_yuv(*encoder, options);
  for (const auto& [name, value] : options.more) av_opt_set(encoder->priv_data, name, value, 0);
  const int rc = avcodec_open2(encoder.get(), x264, nullptr);
  if (rc < 0) throw Error(Code::failed, "libx264 cannot start: " + reason(rc));
  return encoder;
}

}  // namespace navtalk::media
