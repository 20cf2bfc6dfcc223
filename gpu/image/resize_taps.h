// Which source pixels make one destination pixel, and with which weights, along one axis. Private
// to resize.cpp.
#pragma once

#include <vector>

#include "gpu/image/resize.h"

namespace navtalk {

enum class Axis { horizontal, vertical };

// Destination d takes sum(weight[d * count + k] * source[index[d * count + k]]) / 2048.
struct ResizeTaps {
  int count = 0;  // 2 (linear) or 8 (Lanczos)
  std::vector<int> index;
  std::vector<int> weight;
};

// For destinations begin to end-1 of `destination_size`. The two axes differ only in how the linear
// filter treats the border; see resize_taps.cpp.
ResizeTaps resize_taps(Interpolation interpolation, Axis axis, int source_size,
                       int destination_size, int begin, int end);

}  // namespace navtalk
