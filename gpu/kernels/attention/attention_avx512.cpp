// The inner loops of attention over fp32 in AVX-512. See rows_avx512.cpp about what may be used
// here.
#include "gpu/kernels/attention/attention.h"

#if defined(__AVX512BF16__)

#include "gpu/kernels/attention/attention_rows.h"
#include "gpu/kernels/avx512.h"

namespace navtalk::kernels {
namespace {

// Keys [width][keys rounded up to 16], times 1/sqrt(width), zero-padded.
float* keys_of(const void* packed) { return static_cast<float*>(const_cast<void*>(packed)); }
// Values [keys][width rounded up to 16], zero-padded.
float* values_of(const Attention& task, const void* packed) {
  return keys_of(packed) + task.width * padded(task.keys);
}

std::int64_t packed_bytes(const Attention& task) {
  return 4 * (task.width * padded(task.keys) + task.keys * padded(task.width));
}

// Scores [queries][keys rounded up to 16], then queries [queries][width].
std::int64_t scratch_bytes(const Attention& task) {
  return 4 * k_rows * (padded(task.keys) + padded(task.width));
}

void pack(const Attention& task, std::int64_t image, std::int64_t head, void* packed) {
  float *const packed_keys = keys_of(packed), *const packed_values = values_of(task, packed);
  const std::int64_t stride = padded(task.keys), value_stride = padded(task.width);
  const float scale = 1.0F / __builtin_sqrtf(static_cast<float>(task.width));
  alignas(64) float lanes[k_lanes];
  for (std::int64_t t = 0; t < stride; ++t)
    for (std::int64_t c = 0; c < task.width; c += k_lanes) {
      const __mmask16 mask = mask_of(task.width - c);
      __m512 x = _mm512_setzero_ps();
      if (t < task.keys) {
        x = _mm512_mul_ps(
            _mm512_maskz_loadu_ps(mask, row<float>(task.k, image, t, head * task.width + c)),
            _mm512_set1_ps(scale));
        _mm512_storeu_ps(
            packed_values + t * value_stride + c,
            _mm512_maskz_loadu_ps(mask, row<float>(task.v, image, t, head * task.width + c)));
      }
      _mm512_store_ps(lanes, x);
      const std::int64_t count = task.width - c < k_lanes ? task.width - c : k_lanes;
      for (std::int64_t i = 0; i < count; ++i) packed_keys[(c + i) * stride + t] = lanes[i];
    }
}

// out[r][0..16n) = or, unless `first`, += the sum over i of a[r][i] * b[i][0..16n): the one product
// that both halves are.
template <int n>
void product(bool first, const float* a, std::int64_t a_stride, const float* b,
             std::int64_t b_stride, std::int64_t depth, float* out, std::int64_t out_stride) {
  __m512 sum[k_rows][n];
#pragma GCC unroll 16
  for (int r = 0; r < k_rows; ++r)
#pragma GCC unroll 16
    for (int j = 0; j < n; ++j) sum[r][j] = _mm512_setzero_ps();
  for (std::int64_t i = 0; i < depth; ++i) {
    __m512 x[n];
#pragma GCC unroll 16
    for (int j = 0; j < n; ++j) x[j] = _mm512_loadu_ps(b + i * b_stride + j * k_lanes);
#pragma GCC unroll 16
    for (int r = 0; r < k_rows; ++r) {
      const __m512 y = _mm512_set1_ps(a[r * a_stride + i]);
#pragma GCC unroll 16
      for (int j = 0; j < n; ++j) sum[r][j] = _mm512_fmadd_ps(y, x[j], sum[r][j]);
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < k_rows; ++r)
#pragma GCC unroll 16
    for (int j = 0; j < n; ++j) {
      float* to = out + r * out_stride + j * k_lanes;
      _mm512_storeu_ps(to, first ? sum[r][j] : _mm512_add_ps(_mm512_loadu_ps(to), sum[r][j]));
    }
}

// A run of the sum, so that the rounding of a long sum of like terms (a masked face's tokens) stays
// that of a short one.
constexpr std::int64_t k_run = 64;

void product_any(std::int64_t vectors, const float* a, std::int64_t a_stride, const float* b,
                 std::int64_t b_stride, std::int64_t depth, float* out, std::int64_t out_stride) {
  for (std::int64_t i = 0; i < depth; i += k_run) {
    const std::int64_t run = depth - i < k_run ? depth - i : k_run;
    switch (vectors) {
      case 1:
        product<1>(i == 0, a + i, a_stride, b + i * b_stride, b_stride, run, out, out_stride);
        break;
      case 2:
        product<2>(i == 0, a + i, a_stride, b + i * b_stride, b_stride, run, out, out_stride);
        break;
      case 3:
        product<3>(i == 0, a + i, a_stride, b + i * b_stride, b_stride, run, out, out_stride);
        break;
      default:
        product<4>(i == 0, a + i, a_stride, b + i * b_stride, b_stride, run, out, out_stride);
    }
  }
}

// scores -> e^(score - max), and what to multiply with to make their sum 1.
float softmax(float* scores, std::int64_t keys) {
  __m512 top = _mm512_set1_ps(-3.4e38F);
  __m512d sum = _mm512_setzero_pd();
  for (std::int64_t t = 0; t < keys; t += k_lanes)
    top = _mm512_mask_max_ps(top, mask_of(keys - t), top, _mm512_loadu_ps(scores + t));
  const __m512 highest = _mm512_set1_ps(_mm512_reduce_max_ps(top));
  for (std::int64_t t = 0; t < keys; t += k_lanes) {
    const __m512 p = _mm512_maskz_mov_ps(
        mask_of(keys - t), exp_of(_mm512_sub_ps(_mm512_loadu_ps(scores + t), highest)));
    sum = _mm512_add_pd(sum, _mm512_add_pd(doubles(p, 0), doubles(p, 1)));
    _mm512_storeu_ps(scores + t, p);
  }
  return static_cast<float>(1.0 / _mm512_reduce_add_pd(sum));
}

void attend(const Attention& task, std::int64_t image, std::int64_t head, const void* packed,
            std::int64_t first, std::int64_t rows, void* scratch) {
  const std::int64_t keys = padded(task.keys), width = padded(task.width);
  auto* const scores = static_cast<float*>(scratch);
  float* const queries = scores + k_rows * keys;
  for (std::int64_t r = 0; r < k_rows; ++r) {
    // Rows past the end repeat the last one and are not stored.
    const float* q =
        row<float>(task.q, image, first + (r < rows ? r : rows - 1), head * task.width);
    for (std::int64_t c = 0; c < task.width; c += k_lanes) {
      const __mmask16 mask = mask_of(task.width - c);
      _mm512_mask_storeu_ps(queries + r * task.width + c, mask, _mm512_maskz_loadu_ps(mask, q + c));
    }
  }
  for (std::int64_t t = 0; t < keys; t += 4 * k_lanes)
    product_any(vectors_left(t, keys), queries, task.width, keys_of(packed) + t, keys, task.width,
                scores + t, keys);
  float part[k_rows];
  for (int r = 0; r < k_rows; ++r) part[r] = softmax(scores + r * keys, task.keys);
  for (std::int64_t c = 0; c < width; c += 4 * k_lanes) {
    alignas(64) float out[k_rows * 4 * k_lanes];
    product_any(vectors_left(c, width), scores, keys, values_of(task, packed) + c, width, task.keys,
                out, 4 * k_lanes);
    store_scaled<Fp32>(task, image, head, first, rows, c, out, part);
  }
}

}  // namespace

const HeadKernels& avx512_fp32_heads() {
  static constexpr HeadKernels k_heads{packed_bytes, scratch_bytes, pack, attend};
  return k_heads;
}

}  // namespace navtalk::kernels

#else

namespace navtalk::kernels {

const HeadKernels& avx512_fp32_heads() {
  static constexpr HeadKernels k_none{};
  return k_none;
}

}  // namespace navtalk::kernels

#endif
