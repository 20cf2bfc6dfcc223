// The rows of a map as a convolution reads them: normed and through SiLU where that is asked
// for, zeros above and below. Rows are made when they are first asked for and the last few kept, so
// that one who goes down the map makes each of them once. Of one thread, and one at a time.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "gpu/kernels/isa.h"
#include "gpu/kernels/rows.h"
#include "gpu/kernels/scratch.h"

namespace navtalk::kernels {

// T: float, or std::uint16_t for bf16.
template <class T>
class ActivatedRows {
 public:
  struct Map {
    const T* x = nullptr;  // [images, height, width, channels]
    std::int64_t height = 0, width = 0, channels = 0;
    // SiLU(x * scale + shift) takes the place of x, [images, channels] each; or null.
    const float* scale = nullptr;
    const float* shift = nullptr;
  };
  ActivatedRows(const Map& map, Isa isa)
      : map_(map),
        kernels_(row_kernels(isa, sizeof(T) == 4 ? Format::fp32 : Format::bf16)),
        size_(map.width * map.channels),
        zeros_(static_cast<std::size_t>(size_)),
        ring_(scratch<T, 2>(static_cast<std::size_t>(map.scale != nullptr ? k_kept * size_ : 0))) {
    lines_.fill(-1);
  }

  // Row y of the image, which may be one of the rows beyond the map's edges. Good until nine other
  // rows have been asked for.
  const T* operator()(std::int64_t image, std::int64_t y) {
    if (y < 0 || y >= map_.height) return zeros_.data();
    const std::int64_t line = image * map_.height + y, slot = y % k_kept;
    const T* x = map_.x + line * size_;
    if (map_.scale == nullptr) return x;
    T* kept = ring_ + slot * size_;
    std::int64_t& there = lines_[static_cast<std::size_t>(slot)];
    if (there != line) {
      const std::int64_t c = map_.channels;
      kernels_.scale_shift(x, c, kept, c, map_.width, c, map_.scale + image * c,
                           map_.shift + image * c, true);
      there = line;
    }
    return kept;
  }

 private:
  static constexpr std::int64_t k_kept = 10;  // a patch of a tiled convolution has nine at most

  Map map_;
  const RowKernels& kernels_;
  std::int64_t size_;
  std::vector<T> zeros_;
  T* ring_;
  std::array<std::int64_t, k_kept> lines_;  // that the ring holds
};

}  // namespace navtalk::kernels
