// What the attention kernels of both formats share. Only for *_avx512.cpp; see avx512.h.
#pragma once

#include "gpu/kernels/attention/attention.h"
#include "gpu/kernels/avx512.h"

namespace navtalk::kernels {
namespace {

constexpr int k_rows = static_cast<int>(k_query_rows);

inline std::int64_t padded(std::int64_t n) { return (n + k_lanes - 1) / k_lanes * k_lanes; }

// How many vectors to take at once of those between `from` and `size`.
inline std::int64_t vectors_left(std::int64_t from, std::int64_t size) {
  const std::int64_t left = (size - from) / k_lanes;
  return left < 4 ? left : 4;
}

template <class Item>
const Item* row(const Tokens& tokens, std::int64_t image, std::int64_t token, std::int64_t offset) {
  return static_cast<const Item*>(tokens.data) + image * tokens.image + token * tokens.row + offset;
}

// out [k_rows][4 vectors] of channels c and on, each row times its part, to the result.
template <class F>
void store_scaled(const Attention& task, std::int64_t image, std::int64_t head, std::int64_t first,
                  std::int64_t rows, std::int64_t c, const float* out, const float* part) {
  for (std::int64_t r = 0; r < rows; ++r) {
    const std::int64_t token = image * task.queries + first + r;
    auto* const y =
        static_cast<typename F::Item*>(task.y) + (token * task.heads + head) * task.width + c;
    for (std::int64_t i = 0; i < 4 * k_lanes && c + i < task.width; i += k_lanes)
      F::store(y + i,
               _mm512_mul_ps(_mm512_load_ps(out + r * 4 * k_lanes + i), _mm512_set1_ps(part[r])),
               mask_of(task.width - c - i));
  }
}

}  // namespace
}  // namespace navtalk::kernels
