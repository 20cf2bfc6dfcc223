#include "core/media/encode/nvenc_encoder.h"

extern "C" {
#include <libavutil/opt.h>
}

#include <fmt/format.h>

#include <array>
#include <new>
#include <string>
#include <utility>

#include "core/base/error.h"

namespace navtalk::media {

CodecPtr open_nvenc(const NvencOptions& options) {
  capture_log();
  const AVCodec* nvenc = avcodec_find_encoder_by_name("h264_nvenc");
  if (nvenc == nullptr) throw Error(Code::failed, "this FFmpeg was built without NVENC");
  CodecPtr encoder(avcodec_alloc_context3(nvenc));
  if (!encoder) throw std::bad_alloc();
  encoder->width = options.width;
  encoder->height = options.height;
  encoder->time_base = {options.fps.den(), options.fps.num()};
  encoder->framerate = {options.fps.num(), options.fps.den()};
  encoder->flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
  encoder->gop_size = options.key_interval;
  encoder->max_b_frames = 0;
  encoder->pix_fmt = options.frames != nullptr ? AV_PIX_FMT_CUDA : AV_PIX_FMT_YUV420P;
  if (options.frames != nullptr) {
    encoder->hw_frames_ctx = av_buffer_ref(options.frames);
    if (encoder->hw_frames_ctx == nullptr) throw std::bad_alloc();
  }
  encoder->color_range = AVCOL_RANGE_MPEG;
  encoder->color_primaries = AVCOL_PRI_BT709;
  encoder->color_trc = AVCOL_TRC_BT709;
  encoder->colorspace = AVCOL_SPC_BT709;
  encoder->chroma_sample_location = AVCHROMA_LOC_CENTER;
  encoder->rc_max_rate = options.bit_per_s;
  encoder->rc_buffer_size = static_cast<int>(options.bit_per_s / 2);
  const std::string gpu = std::to_string(options.gpu);
  // `delay`: a picture's access unit is there before the next one is sent.
  constexpr auto k_settings =
      std::to_array<std::pair<const char*, const char*>>({{"preset", "p3"},
                                                          {"tune", "ull"},
                                                          {"profile", "baseline"},
                                                          {"rc", "vbr"},
                                                          {"cq", "23"},
                                                          {"zerolatency", "1"},
                                                          {"delay", "0"},
                                                          {"forced-idr", "1"}});
  const auto set = [&](const char* name, const char* value) {
    if (const int rc = av_opt_set(encoder->priv_data, name, value, 0); rc < 0)
      throw Error(Code::failed,
                  fmt::format("this FFmpeg's NVENC takes no {}={}: {}", name, value, reason(rc)));
  };
  for (const auto& [name, value] : k_settings) set(name, value);
  set("gpu", gpu.c_str());
  if (const int rc = avcodec_open2(encoder.get(), nvenc, nullptr); rc < 0)
    throw Error(Code::failed, "NVENC cannot start: " + reason(rc));
  return encoder;
}

}  // namespace navtalk::media
