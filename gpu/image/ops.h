// Image operations on 8-bit [H,W,C] images; a batch is a loop over views. CPU twins; CUDA kernels
// get the same names in a later change. Every operation is single-threaded and re-entrant;
// destinations must not overlap sources.
#pragma once

#include "core/image.h"

namespace navtalk {

enum class Interpolation { linear, lanczos4 };
// OpenCV's 8-bit arithmetic, bit for bit; the destination's size says the scale.
void resize(ConstImageView source, ImageView destination, Interpolation interpolation);

// OpenCV's 8-bit Gaussian blur (fixed-point taps, reflect-101). size is odd; sigma 0 derives it
// from size.
void gaussian_blur(ConstImageView source, ImageView destination, int size, double sigma = 0.0);

struct Unsharp {
  float amount = 1.2F;
  float sigma = 1.0F;  // of a 5x5 Gaussian
  int threshold = 5;   // a pixel stays where |source - blurred| is below it
};
// clamp(round((1 + amount) * source - amount * blurred)).
void unsharp_mask(ConstImageView source, ImageView destination, const Unsharp& unsharp);

// base = base*(255-mask)/255 + overlay*mask/255 in place, rounded as Pillow does; mask has one
// channel and all three have one size.
void blend(ImageView base, ConstImageView overlay, ConstImageView mask);

// BT.709 limited range. I420: planes Y, U, V in one buffer of size width*height*3/2; NV12: Y, then
// interleaved UV. Width and height even.
void bgr_to_i420(ConstImageView bgr, std::uint8_t* i420);
void bgr_to_nv12(ConstImageView bgr, std::uint8_t* nv12);
void i420_to_bgr(const std::uint8_t* i420, ImageView bgr);
void nv12_to_bgr(const std::uint8_t* nv12, ImageView bgr);

}  // namespace navtalk
