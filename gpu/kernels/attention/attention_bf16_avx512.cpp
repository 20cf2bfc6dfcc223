// The inner loops of attention over bf16 in AVX-512: products of pairs, summed in fp32. See
// rows_avx512.cpp about what may be used here.
#include "gpu/kernels/attention/attention.h"

#if defined(__AVX512BF16__)

#include "gpu/kernels/attention/attention_rows.h"

namespace navtalk::kernels {
namespace {

using Half = std::uint16_t;
using Pair = std::uint32_t;  // two bf16, the lower one in the lower half

std::int64_t pairs(std::int64_t n) { return (n + 1) / 2; }

// Keys: pairs of channels [pairs of width][keys rounded up to 16], zero-padded.
Pair* keys_of(const void* packed) { return static_cast<Pair*>(const_cast<void*>(packed)); }
// Values: pairs of tokens [pairs of keys][width rounded up to 16], zero-padded.
Pair* values_of(const Attention& task, const void* packed) {
  return keys_of(packed) + pairs(task.width) * padded(task.keys);
}

std::int64_t packed_bytes(const Attention& task) {
  return 4 * (pairs(task.width) * padded(task.keys) + pairs(task.keys) * padded(task.width));
}

// Scores [queries][keys rounded up to 16], whose rows become weights in bf16, then the queries as
// pairs of channels.
std::int64_t scratch_bytes(const Attention& task) {
  return 4 * k_rows * (padded(task.keys) + padded(pairs(task.width)));
}

Pair pair_of(const Half* x, std::int64_t i, std::int64_t size) {
  return Pair{x[i]} | (i + 1 < size ? Pair{x[i + 1]} << 16 : 0);
}

__m512i halves(const Half* x, __mmask16 mask) {
  return _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(mask, x));
}

void pack(const Attention& task, std::int64_t image, std::int64_t head, void* packed) {
  const std::int64_t stride = padded(task.keys), value_stride = padded(task.width);
  const std::int64_t offset = head * task.width;
  Pair *const keys = keys_of(packed), *const values = values_of(task, packed);
  for (std::int64_t t = 0; t < stride; ++t) {
    const Half* k = t < task.keys ? row<Half>(task.k, image, t, offset) : nullptr;
    for (std::int64_t c = 0; c < pairs(task.width); ++c)
      keys[c * stride + t] = k == nullptr ? 0 : pair_of(k, 2 * c, task.width);
  }
  for (std::int64_t t = 0; t < task.keys; t += 2)
    for (std::int64_t c = 0; c < value_stride; c += k_lanes) {
      const __mmask16 mask = mask_of(task.width - c);
      __m512i pair = halves(row<Half>(task.v, image, t, offset) + c, mask);
      if (t + 1 < task.keys)
        pair = _mm512_or_si512(
            pair, _mm512_slli_epi32(halves(row<Half>(task.v, image, t + 1, offset) + c, mask), 16));
      _mm512_storeu_si512(values + t / 2 * value_stride + c, pair);
    }
}

__m512bh pairs_in(__m512i x) {
  __m512bh y;
  __builtin_memcpy(&y, &x, sizeof y);
  return y;
}

// out[r][0..16n) = the sum over i of the products of both halves of a[r][i] and b[i][0..16n).
template <int n>
void product(const Pair* a, std::int64_t a_stride, const Pair* b, std::int64_t b_stride,
             std::int64_t depth, float* out, std::int64_t out_stride) {
  __m512 sum[k_rows][n];
#pragma GCC unroll 16
  for (int r = 0; r < k_rows; ++r)
#pragma GCC unroll 16
    for (int j = 0; j < n; ++j) sum[r][j] = _mm512_setzero_ps();
  for (std::int64_t i = 0; i < depth; ++i) {
    __m512bh x[n];
#pragma GCC unroll 16
    for (int j = 0; j < n; ++j) x[j] = pairs_in(_mm512_loadu_si512(b + i * b_stride + j * k_lanes));
#pragma GCC unroll 16
    for (int r = 0; r < k_rows; ++r) {
      const __m512bh y = pairs_in(_mm512_set1_epi32(static_cast<int>(a[r * a_stride + i])));
#pragma GCC unroll 16
      for (int j = 0; j < n; ++j) sum[r][j] = _mm512_dpbf16_ps(sum[r][j], y, x[j]);
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < k_rows; ++r)
#pragma GCC unroll 16
    for (int j = 0; j < n; ++j) _mm512_storeu_ps(out + r * out_stride + j * k_lanes, sum[r][j]);
}

void product_any(std::int64_t vectors, const Pair* a, std::int64_t a_stride, const Pair* b,
                 std::int64_t b_stride, std::int64_t depth, float* out, std::int64_t out_stride) {
  switch (vectors) {
    case 1:
      return product<1>(a, a_stride, b, b_stride, depth, out, out_stride);
    case 2:
      return product<2>(a, a_stride, b, b_stride, depth, out, out_stride);
    case 3:
      return product<3>(a, a_stride, b, b_stride, depth, out, out_stride);
    default:
      return product<4>(a, a_stride, b, b_stride, depth, out, out_stride);
  }
}

// The largest of a row's scores. Four at a time: one chain of maxima would wait for itself.
float largest(const float* scores, std::int64_t keys) {
  __m512 top[4];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) top[i] = _mm512_set1_ps(-3.4e38F);
  std::int64_t t = 0;
  for (; t + 4 * k_lanes <= keys; t += 4 * k_lanes)
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i)
      top[i] = _mm512_max_ps(top[i], _mm512_loadu_ps(scores + t + i * k_lanes));
  for (; t < keys; t += k_lanes)
    top[0] = _mm512_mask_max_ps(top[0], mask_of(keys - t), top[0], _mm512_loadu_ps(scores + t));
  return _mm512_reduce_max_ps(
      _mm512_max_ps(_mm512_max_ps(top[0], top[1]), _mm512_max_ps(top[2], top[3])));
}

// A row of scores -> its weights 2^(scale * (score - max)) as bf16 in the same memory, and what to
// multiply with to make their sum 1.
float softmax(float* scores, std::int64_t keys, float scale) {
  __m512 sum = _mm512_setzero_ps();
  const __m512 factor = _mm512_set1_ps(scale);
  const __m512 highest = _mm512_set1_ps(largest(scores, keys) * scale);
  auto* const weights = reinterpret_cast<Half*>(scores);  // never ahead of what is read
  const auto weight = [&](std::int64_t t) {
    return exp2_of(_mm512_fmsub_ps(_mm512_loadu_ps(scores + t), factor, highest));
  };
  std::int64_t t = 0;
  for (; t + k_lanes <= keys; t += k_lanes) {
    const __m512 p = weight(t);
    sum = _mm512_add_ps(sum, p);
    Bf16::store(weights + t, p);
  }
  if (t < keys) {
    const __m512 p = _mm512_maskz_mov_ps(mask_of(keys - t), weight(t));
    sum = _mm512_add_ps(sum, p);
    Bf16::store(weights + t, p);
  }
  return 1.0F / _mm512_reduce_add_ps(sum);
}

void attend(const Attention& task, std::int64_t image, std::int64_t head, const void* packed,
            std::int64_t first, std::int64_t rows, void* scratch) {
  constexpr float k_log2_e = 1.44269504F;
  const std::int64_t keys = padded(task.keys), width = padded(task.width);
  const std::int64_t depth = pairs(task.width);
  auto* const scores = static_cast<float*>(scratch);
  auto* const queries = reinterpret_cast<Pair*>(scores + k_rows * keys);
  for (std::int64_t r = 0; r < k_rows; ++r) {
    // Rows past the end repeat the last one and are not stored.
    const Half* q = row<Half>(task.q, image, first + (r < rows ? r : rows - 1), head * task.width);
    for (std::int64_t c = 0; c < depth; ++c) queries[r * depth + c] = pair_of(q, 2 * c, task.width);
  }
  for (std::int64_t t = 0; t < keys; t += 4 * k_lanes)
    product_any(vectors_left(t, keys), queries, depth, keys_of(packed) + t, keys, depth, scores + t,
                keys);
  const float scale = k_log2_e / __builtin_sqrtf(static_cast<float>(task.width));
  float part[k_rows];
  for (int r = 0; r < k_rows; ++r) part[r] = softmax(scores + r * keys, task.keys, scale);
  for (std::int64_t c = 0; c < width; c += 4 * k_lanes) {
    alignas(64) float out[k_rows * 4 * k_lanes];
    product_any(vectors_left(c, width), reinterpret_cast<const Pair*>(scores), keys,
                values_of(task, packed) + c, width, pairs(task.keys), out, 4 * k_lanes);
    store_scaled<Bf16>(task, image, head, first, rows, c, out, part);
  }
}

}  // namespace

const HeadKernels& avx512_bf16_heads() {
  static constexpr HeadKernels k_heads{packed_bytes, scratch_bytes, pack, attend};
  return k_heads;
}

}  // namespace navtalk::kernels

#else

namespace navtalk::kernels {

const HeadKernels& avx512_bf16_heads() {
  static constexpr HeadKernels k_none{};
  return k_none;
}

}  // namespace navtalk::kernels

#endif
