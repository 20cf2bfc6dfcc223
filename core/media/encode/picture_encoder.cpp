#include "core/media/encode/picture_encoder.h"

extern "C" {
#include <libavutil/opt.h>
}

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/media/encode/gif_palette.h"
#include "core/media/encode/x264_encoder.h"
#include "core/media/pixels.h"

namespace navtalk::media {
namespace {

constexpr double k_vp9_crf = 28, k_webp_quality = 80;

constexpr int even(int n) { return n + n % 2; }

// libx264's AVX-512 code for macroblock trees reads memory that nobody set (build 164, widths that
// are no multiple of 256): the same pictures then gave another file each time. Its AVX2 code does
// not and is as fast.
std::string x264_parameters(const VideoOptions& options) {
  std::string text = options.open_groups ? "open-gop=1" : "open-gop=0";
  // Lossless pictures have many bits, and arithmetic coding takes four times as long to read them.
  if (options.lossless_rgb) text += ":cabac=0";
  if (options.lookahead > 0) text += fmt::format(":rc-lookahead={}", options.lookahead);
  if (options.kbit_per_s > 0) text += fmt::format(":bitrate={}", options.kbit_per_s);
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512bw")) text += ":asm=avx2";
#endif
  return text;
}

CodecPtr open_h264(const VideoOptions& options) {
  const std::string parameters = x264_parameters(options);
  return open_x264({.width = options.lossless_rgb ? options.width : even(options.width),
                    .height = options.lossless_rgb ? options.height : even(options.height),
                    .fps = options.fps,
                    .threads = options.threads,
                    .crf = options.crf.value_or(k_h264_crf),
                    .lossless_rgb = options.lossless_rgb,
                    .chroma = options.nv12 ? AVCHROMA_LOC_CENTER : AVCHROMA_LOC_LEFT,
                    .key_interval = options.key_interval,
                    .more = {{"preset", options.preset}, {"x264-params", parameters.c_str()}}});
}

CodecPtr allocated(const VideoOptions& options, const char* name, AVPixelFormat pixels) {
  const AVCodec* codec = avcodec_find_encoder_by_name(name);
  if (codec == nullptr)
    throw Error(Code::failed, fmt::format("this FFmpeg was built without {}", name));
  CodecPtr encoder(avcodec_alloc_context3(codec));
  if (!encoder) throw std::bad_alloc();
  encoder->width = options.width;
  encoder->height = options.height;
  encoder->pix_fmt = pixels;
  encoder->time_base = {options.fps.den(), options.fps.num()};
  encoder->framerate = {options.fps.num(), options.fps.den()};
  encoder->flags |= AV_CODEC_FLAG_BITEXACT;
  return encoder;
}

void open(AVCodecContext& encoder) {
  const int rc = avcodec_open2(&encoder, nullptr, nullptr);
  if (rc < 0)
    throw Error(Code::failed, fmt::format("{} cannot start: {}", encoder.codec->name, reason(rc)));
}

CodecPtr open_vp9(const VideoOptions& options) {
  CodecPtr encoder = allocated(options, "libvpx-vp9", AV_PIX_FMT_YUV420P);
  encoder->width = even(options.width);
  encoder->height = even(options.height);
  encoder->color_range = AVCOL_RANGE_MPEG;
  encoder->color_primaries = AVCOL_PRI_BT709;
  encoder->color_trc = AVCOL_TRC_BT709;
  encoder->colorspace = AVCOL_SPC_BT709;
  if (options.nv12) encoder->chroma_sample_location = AVCHROMA_LOC_CENTER;
  encoder->thread_count = options.threads > 0 ? options.threads : 4;
  encoder->bit_rate = std::int64_t{options.kbit_per_s} * 1000;  // 0: by quality alone
  if (options.kbit_per_s == 0)
    av_opt_set_double(encoder->priv_data, "crf", options.crf.value_or(k_vp9_crf), 0);
  av_opt_set(encoder->priv_data, "deadline", "good", 0);
  av_opt_set(encoder->priv_data, "cpu-used", "5", 0);
  av_opt_set(encoder->priv_data, "row-mt", "1", 0);
  open(*encoder);
  return encoder;
}

// Both H.264 and VP9.
PictureEncoder with_yuv(const VideoOptions& options, CodecPtr codec) {
  const auto to_yuv = std::make_shared<BgrToYuv420>(options.width, options.height);
  return {std::move(codec),
          [to_yuv](ConstImageView bgr, AVFrame& frame) { to_yuv->convert(bgr, frame); }};
}

void to_bgra(ConstImageView bgr, AVFrame& frame) {
  for (int y = 0; y < bgr.height; ++y) {
    const std::uint8_t* from = bgr.row(y);
    std::uint8_t* to = frame.data[0] + std::ptrdiff_t{y} * frame.linesize[0];
    for (int x = 0; x < bgr.width; ++x, from += 3, to += 4) {
      to[0] = from[0];
      to[1] = from[1];
      to[2] = from[2];
      to[3] = 255;
    }
  }
}

void to_bgr(ConstImageView bgr, AVFrame& frame) {
  for (int y = 0; y < bgr.height; ++y)
    std::copy_n(bgr.row(y), std::ptrdiff_t{3} * bgr.width,
                frame.data[0] + std::ptrdiff_t{y} * frame.linesize[0]);
}

PictureEncoder open_webp(const VideoOptions& options) {
  CodecPtr encoder = allocated(options, "libwebp_anim", AV_PIX_FMT_BGRA);
  av_opt_set_double(encoder->priv_data, "quality", k_webp_quality, 0);
  open(*encoder);
  return {std::move(encoder), to_bgra};
}

PictureEncoder open_gif(const VideoOptions& options) {
  CodecPtr encoder = allocated(options, "gif", AV_PIX_FMT_PAL8);
  open(*encoder);
  const auto palette = std::make_shared<std::unique_ptr<GifPalette>>();
  return {std::move(encoder), [palette](ConstImageView bgr, AVFrame& frame) {
            if (!*palette) *palette = std::make_unique<GifPalette>(bgr);
            (*palette)->convert(bgr, frame);
          }};
}

}  // namespace

PictureEncoder open_picture_encoder(const VideoOptions& options) {
  capture_log();
  switch (options.format->pictures) {
    case PictureCodec::h264:
      if (options.lossless_rgb) return {open_h264(options), to_bgr};
      return with_yuv(options, open_h264(options));
    case PictureCodec::vp9:
      return with_yuv(options, open_vp9(options));
    case PictureCodec::gif:
      return open_gif(options);
    case PictureCodec::webp:
      return open_webp(options);
  }
  throw Error(Code::failed, "a video of a kind that is not known");
}

}  // namespace navtalk::media
