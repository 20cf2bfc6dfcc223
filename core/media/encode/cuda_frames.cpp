#include "core/media/encode/cuda_frames.h"

// FFmpeg's header wants two types of a header that only CUDA has.
#define CUDA_VERSION 4000
using CUcontext = void*;
using CUstream = void*;
extern "C" {
#include <libavutil/hwcontext.h>
#include <libavutil/hwcontext_cuda.h>
}

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string>

#include "core/base/check.h"
#include "core/base/error.h"

namespace navtalk::media {
namespace {

void require(int rc, const char* what) {
  if (rc < 0) throw Error(Code::failed, std::string(what) + ": " + reason(rc));
}

BufferPtr open_device(const DeviceSource& source) {
  capture_log();
  BufferPtr device(av_hwdevice_ctx_alloc(AV_HWDEVICE_TYPE_CUDA));
  if (!device) throw Error(Code::failed, "this FFmpeg was built without CUDA");
  auto* opened = reinterpret_cast<AVHWDeviceContext*>(device->data);
  auto* cuda = static_cast<AVCUDADeviceContext*>(opened->hwctx);
  cuda->cuda_ctx = source.context;
  cuda->stream = source.stream.get();
  require(av_hwdevice_ctx_init(device.get()), "FFmpeg cannot use the GPU");
  return device;
}

BufferPtr open_frames(AVBufferRef& device, int width, int height) {
  BufferPtr frames(av_hwframe_ctx_alloc(&device));
  if (!frames) throw std::bad_alloc();
  auto* opened = reinterpret_cast<AVHWFramesContext*>(frames->data);
  opened->format = AV_PIX_FMT_CUDA;
  opened->sw_format = AV_PIX_FMT_NV12;
  opened->width = width;
  opened->height = height;
  require(av_hwframe_ctx_init(frames.get()), "FFmpeg has no frames on the GPU");
  return frames;
}

FramePtr frame_of(AVPixelFormat format, int width, int height) {
  FramePtr frame = make_frame();
  frame->format = format;
  frame->width = width;
  frame->height = height;
  return frame;
}

}  // namespace

CudaFrames::CudaFrames(const DeviceSource& source, int width, int height)
    : source_(source),
      width_(width),
      height_(height),
      device_(open_device(source_)),
      frames_(open_frames(*device_, width, height)) {}

FramePtr CudaFrames::copy_of(const DevicePicture& picture) const {
  NAVTALK_CHECK(picture.gpu == source_.gpu);
  NAVTALK_CHECK(picture.width == width_ && picture.height == height_);
  const FramePtr from = frame_of(AV_PIX_FMT_CUDA, width_, height_);
  from->data[0] = const_cast<std::uint8_t*>(picture.nv12.get());
  from->data[1] = from->data[0] + static_cast<std::ptrdiff_t>(width_) * height_;
  from->linesize[0] = from->linesize[1] = width_;
  from->hw_frames_ctx = av_buffer_ref(frames_.get());
  if (from->hw_frames_ctx == nullptr) throw std::bad_alloc();
  return copy_of(*from);
}

FramePtr CudaFrames::copy_of(const I420Picture& picture) const {
  NAVTALK_CHECK(picture.width == width_ && picture.height == height_);
  const FramePtr from = frame_of(AV_PIX_FMT_NV12, width_, height_);
  if (av_frame_get_buffer(from.get(), 0) < 0) throw std::bad_alloc();
  for (int y = 0; y < height_; ++y)
    std::copy_n(picture.y() + static_cast<std::ptrdiff_t>(y) * width_, width_,
                from->data[0] + static_cast<std::ptrdiff_t>(y) * from->linesize[0]);
  const int half = width_ / 2;
  for (int y = 0; y < height_ / 2; ++y) {
    std::uint8_t* to = from->data[1] + static_cast<std::ptrdiff_t>(y) * from->linesize[1];
    const std::ptrdiff_t row = static_cast<std::ptrdiff_t>(y) * half;
    for (int x = 0; x < half; ++x) {
      to[2 * x] = picture.u()[row + x];
      to[2 * x + 1] = picture.v()[row + x];
    }
  }
  return copy_of(*from);
}

FramePtr CudaFrames::copy_of(const AVFrame& from) const {
  FramePtr frame = make_frame();
  require(av_hwframe_get_buffer(frames_.get(), frame.get(), 0), "the GPU has no room for a frame");
  capture_log();
  int rc = av_hwframe_transfer_data(frame.get(), &from, 0);
  // libavutil 57 returns success also where CUDA has refused the copy.
  if (rc >= 0 && error_logged()) rc = AVERROR_EXTERNAL;
  require(rc, "a frame was not copied on the GPU");
  return frame;
}

}  // namespace navtalk::media
