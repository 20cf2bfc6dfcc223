// Conversion between FFmpeg's frames and BGR images, through libswscale with correct rounding,
// chroma interpolated where it was sampled, and the right matrix and range. Private to core/media.
#pragma once

#include <cstdint>
#include <vector>

#include "core/media/ffmpeg.h"
#include "core/tensor/image.h"
#include "core/tensor/nv12_view.h"

namespace navtalk::media {

// Any decoded frame to BGR. A stream that does not name its matrix is taken as BT.601, as FFmpeg
// and OpenCV do; one that does not name its range as limited. Reuses its tables while frames stay
// alike.
class FrameToBgr {
 public:
  void convert(const AVFrame& frame, ImageView bgr);  // of one size

 private:
  void prepare(const AVFrame& frame);

  ScalerPtr scaler_;  // of frames that are not planar RGB already
  FramePtr planar_;   // G, B, R: swscale's exact path is planar
  int format_ = -1, space_ = -1, range_ = -1, location_ = -1;
};

// BGR images of one size to yuv420p, BT.709 limited range, chroma sited left as H.264 has it.
class BgrToYuv420 {
 public:
  BgrToYuv420(int width, int height);
  // Frame: yuv420p of the size, or one more where that is odd; then the edge is repeated.
  void convert(ConstImageView bgr, AVFrame& frame);

 private:
  int width_, height_;
  ScalerPtr scaler_;
  std::vector<std::uint8_t> tail_;  // the last rows, with room behind them
};

// The same bytes in planes. Frame: yuv420p of the picture's size.
void nv12_to_yuv420(const Nv12View& picture, AVFrame& frame);

}  // namespace navtalk::media
