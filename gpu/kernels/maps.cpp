#include "gpu/kernels/maps.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <vector>

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

// Where a result lies between two values, and how far from the first.
struct Between {
  std::int64_t first, second;
  float share;
};

Between between(std::int64_t i, std::int64_t from, std::int64_t to) {
  const float scale = to > 1 ? static_cast<float>(from - 1) / static_cast<float>(to - 1) : 0.0F;
  const float place = scale * static_cast<float>(i);
  const std::int64_t first = std::min(static_cast<std::int64_t>(place), from - 1);
  return {first, std::min(first + 1, from - 1), place - static_cast<float>(first)};
}

void mix(const float* a, const float* b, float share, float* y, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) y[i] = (1.0F - share) * a[i] + share * b[i];
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

void enlarge_planes(const float* x, float* y, std::int64_t planes, std::int64_t h, std::int64_t w,
                    std::int64_t to_h, std::int64_t to_w) {
  std::vector<Between> columns;
  for (std::int64_t i = 0; i < to_w; ++i) columns.push_back(between(i, w, to_w));
  parallel_for(planes, to_h * to_w, [&](std::int64_t begin, std::int64_t end) {
    std::vector<float> wide(
        static_cast<std::size_t>(h * to_w));  // the plane, as wide as the result
    for (std::int64_t plane = begin; plane < end; ++plane) {
      const float* from = x + plane * h * w;
      for (std::int64_t row = 0; row < h; ++row, from += w)
        for (std::int64_t i = 0; i < to_w; ++i) {
          const Between& at = columns[static_cast<std::size_t>(i)];
          wide[static_cast<std::size_t>(row * to_w + i)] =
              (1.0F - at.share) * from[at.first] + at.share * from[at.second];
        }
      for (std::int64_t row = 0; row < to_h; ++row) {
        const Between at = between(row, h, to_h);
        mix(wide.data() + at.first * to_w, wide.data() + at.second * to_w, at.share,
            y + (plane * to_h + row) * to_w, to_w);
      }
    }
  });
}

}  // namespace navtalk::kernels
