// Frames in a GPU's memory for an encoder there, in FFmpeg's own pool. One owner, one thread at a time. Private to core/media.
//
//   the nets' picture ──copied on the GPU──► frame ──► NVENC
//   the host's picture ──uploaded──────────►
//
// FFmpeg tells NVENC of a frame's memory once and remembers it by its address, while the nets' memory may go back to the driver
// and come again with another size: so their pictures are copied, within the GPU, into memory that stays.
#pragma once

#include "core/media/encode/h264_stream.h"
#include "core/media/ffmpeg.h"
#include "core/tensor/i420_picture.h"
#include "core/tensor/video_picture.h"

namespace navtalk::media {

using BufferPtr = CPtrPtr<AVBufferRef, av_buffer_unref>;

class CudaFrames {
 public:
  // NV12, both sides even. Error{failed} says what is missing.
  CudaFrames(const DeviceSource& source, int width, int height);

  int gpu() const { return source_.gpu; }
  // An AVHWFramesContext, for the encoder.
  AVBufferRef* context() const { return frames_.get(); }

  // Of the same GPU and size. What the frame is copied from has to stay until the encoder has given the picture back.
  FramePtr copy_of(const DevicePicture& picture) const;
  FramePtr copy_of(const I420Picture& picture) const;

 private:
  FramePtr copy_of(const AVFrame& from) const;

  const DeviceSource source_;
  const int width_, height_;
  BufferPtr device_, frames_{};
};

}  // namespace navtalk::media
