#include "core/media/encode/x264_encoder.h"

extern "C" {
#include <libavutil/opt.h>
}

#include <new>

#include "core/base/error.h"

namespace navtalk::media {

CodecPtr open_x264(const X264Options& options) {
  capture_log();
  const AVCodec* x264 = avcodec_find_encoder_by_name("libx264");
  if (x264 == nullptr) throw Error(Code::failed, "this FFmpeg was built without libx264");
  CodecPtr encoder(avcodec_alloc_context3(x264));
  if (!encoder) throw std::bad_alloc();
  encoder->width = options.width;
  encoder->height = options.height;
  encoder->pix_fmt = AV_PIX_FMT_YUV420P;
  encoder->time_base = {options.fps.den(), options.fps.num()};
  encoder->framerate = {options.fps.num(), options.fps.den()};
  encoder->color_range = AVCOL_RANGE_MPEG;
  encoder->color_primaries = AVCOL_PRI_BT709;
  encoder->color_trc = AVCOL_TRC_BT709;
  encoder->colorspace = AVCOL_SPC_BT709;
  encoder->chroma_sample_location = AVCHROMA_LOC_LEFT;
  encoder->thread_count = options.threads;
  encoder->flags |= AV_CODEC_FLAG_GLOBAL_HEADER | AV_CODEC_FLAG_BITEXACT;
  if (options.key_interval > 0) encoder->gop_size = options.key_interval;
  if (options.bit_per_s > 0) {
    encoder->rc_max_rate = options.bit_per_s;
    encoder->rc_buffer_size = static_cast<int>(options.bit_per_s / 2);
  }
  av_opt_set_double(encoder->priv_data, "crf", options.crf, 0);
  for (const auto& [name, value] : options.more) av_opt_set(encoder->priv_data, name, value, 0);
  const int rc = avcodec_open2(encoder.get(), x264, nullptr);
  if (rc < 0) throw Error(Code::failed, "libx264 cannot start: " + reason(rc));
  return encoder;
}

}  // namespace navtalk::media
