#include "tests/fakes/fake_nvenc.h"

#include "core/base/error.h"
#include "core/media/encode/nvenc_encoder.h"

extern "C" {
#include <libavutil/hwcontext.h>
#include <libavutil/opt.h>
}

namespace navtalk::tests {

FakeNvenc& fake_nvenc() {
  static FakeNvenc fake;
  return fake;
}

}  // namespace navtalk::tests

namespace navtalk::media {

CodecPtr open_nvenc(const NvencOptions& options) {
  capture_log();
  tests::FakeNvenc& fake = tests::fake_nvenc();
  if (!fake.there) throw Error(Code::failed, "there is no NVENC");
  if (options.frames != nullptr && !fake.takes_frames)
    throw Error(Code::failed, "this NVENC takes no frames");
  if (fake.room == 0) throw Error(Code::failed, "NVENC has no room for one more stream");
  --fake.room;
  const AVCodec* x264 = avcodec_find_encoder_by_name("libx264");
  CodecPtr encoder(avcodec_alloc_context3(x264));
  encoder->width = options.width;
  encoder->height = options.height;
  encoder->time_base = {options.fps.den(), options.fps.num()};
  encoder->framerate = {options.fps.num(), options.fps.den()};
  encoder->thread_count = 1;
  encoder->flags |= AV_CODEC_FLAG_GLOBAL_HEADER | AV_CODEC_FLAG_BITEXACT;
  encoder->pix_fmt = AV_PIX_FMT_YUV420P;
  if (options.frames != nullptr) {
    const auto* frames = reinterpret_cast<const AVHWFramesContext*>(options.frames->data);
    if (frames->format != AV_PIX_FMT_CUDA || frames->width != options.width ||
        frames->height != options.height)
      throw Error(Code::failed, "these are no frames of a GPU, or of another size");
    encoder->pix_fmt = frames->sw_format;
  }
  av_opt_set(encoder->priv_data, "tune", "zerolatency", 0);
  av_opt_set(encoder->priv_data, "profile", "baseline", 0);
  av_opt_set(encoder->priv_data, "forced-idr", "1", 0);
  if (const int rc = avcodec_open2(encoder.get(), x264, nullptr); rc < 0)
    throw Error(Code::failed, "libx264 cannot start: " + reason(rc));
  return encoder;
}

}  // namespace navtalk::media
