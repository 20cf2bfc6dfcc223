#include "gpu/kernels/maps.h"

#include <cmath>
#include <cstddef>
#include <cstring>

#include "gpu/kernels/bf16.h"
#include "gpu/kernels/parallel.h"

namespace navtalk::kernels {
namespace {

template <class T>
void bytes_of(const T* x, std::int64_t stride, std::int64_t begin, std::int64_t end,
              std::uint8_t* y) {
  for (std::int64_t i = begin; i < end; ++i)
    for (std::int64_t k = 0; k < 3; ++k) {
      const float unit = to_float(x[i * stride + k]) / 2.0F + 0.5F;
      // The comparisons are false for NaN.
      const float bounded = unit > 0.0F ? (unit < 1.0F ? unit : 1.0F) : 0.0F;
      y[i * 3 + 2 - k] = static_cast<std::uint8_t>(std::lrintf(bounded * 255.0F));
    }
}

}  // namespace

void interleave_phases(const void* x, void* y, Format format, std::int64_t images, std::int64_t h,
                       std::int64_t w, std::int64_t channels) {
  const std::int64_t item = channels * item_size(format);  // bytes of one pixel
  const auto* from = static_cast<const std::byte*>(x);
  auto* to = static_cast<std::byte*>(y);
  parallel_for(images * 2 * h, 2 * w * channels, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t line = begin; line < end; ++line) {
      const std::int64_t image = line / (2 * h), row = line % (2 * h), py = row % 2;
      const std::byte* in = from + (image * (h + 1) + row / 2 + py) * (w + 1) * 4 * item;
      std::byte* out = to + line * 2 * w * item;
      for (std::int64_t column = 0; column < 2 * w; ++column) {
        const std::int64_t px = column % 2;
        std::memcpy(out + column * item, in + ((column / 2 + px) * 4 + 2 * py + px) * item,
                    static_cast<std::size_t>(item));
      }
    }
  });
}

void to_bgr_bytes(const void* x, std::int64_t stride, Format format, std::int64_t pixels,
                  std::uint8_t* y) {
  parallel_for(pixels, 6, [&](std::int64_t begin, std::int64_t end) {
    if (format == Format::fp32)
      bytes_of(static_cast<const float*>(x), stride, begin, end, y);
    else
      bytes_of(static_cast<const std::uint16_t*>(x), stride, begin, end, y);
  });
}

}  // namespace navtalk::kernels
