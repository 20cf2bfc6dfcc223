// What the attention kernels of both formats share. Only for *_avx512.cpp; see avx512.h.
#pragma once

#include "gpu/kernels/attention.h"
#include "gpu/kernels/avx512.h"

namespace navtalk::kernels {
namespace {

constexpr int k_rows = static_cast<int>(k_query_rows);

inline std::int64_t padded(std::int64_t n) { return (n + k_lanes - 1) / k_lanes * k_lanes; }

inline __mmask16 mask_of(std::int64_t left) {
  return left >= k_lanes ? __mmask16{0xffff} : tail_mask(left);
}

// How many vectors to take at once of those between `from` and `size`.
inline std::int64_t vectors_left(std::int64_t from, std::int64_t size) {
  const std::int64_t left = (size - from) / k_lanes;
  return left < 4 ? left : 4;
}

template <class Item>
const Item* row(const Tokens& tokens, std::int64_t image, std::int64_t token, std::int64_t offset) {
  return static_cast<const Item*>(tokens.data) + image * tokens.image + token * tokens.row + offset;
}

}  // namespace
}  // namespace navtalk::kernels
