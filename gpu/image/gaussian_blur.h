// OpenCV's 8-bit Gaussian blur, bit for bit: taps of 1/256, exact integer passes, border reflected
// without repeating the edge pixel. Single-threaded and re-entrant; the destination must not
// overlap the source; any number of channels.
#pragma once

#include <vector>

#include "core/tensor/image.h"
#include "gpu/image/batch.h"

namespace navtalk {

// size is odd; sigma 0 derives it from the size: 0.3 ((size - 1) / 2 - 1) + 0.8.
void gaussian_blur(ConstImageView source, ImageView destination, int size, double sigma = 0.0);
void gaussian_blur(ConstBatchView source, BatchView destination, int size, double sigma = 0.0);

// The taps in 1/256, `size` of them, symmetric, with the sum 256.
std::vector<int> gaussian_taps(int size, double sigma = 0.0);

}  // namespace navtalk
