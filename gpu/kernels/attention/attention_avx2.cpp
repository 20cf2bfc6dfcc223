// The inner loops of attention over fp32 in AVX2. See rows_avx2.cpp about what may be used here.
#include "gpu/kernels/attention/attention.h"

#if defined(__AVX2__) && defined(__FMA__)

#include "gpu/kernels/avx2.h"

namespace navtalk::kernels {
namespace {

constexpr int k_rows = static_cast<int>(k_query_rows);
constexpr std::int64_t k_columns = 2 * k_lanes;  // of the most that product() makes at once

inline std::int64_t padded(std::int64_t n) { return (n + k_lanes - 1) / k_lanes * k_lanes; }

const float* row(const Tokens& tokens, std::int64_t image, std::int64_t token,
                 std::int64_t channel) {
  return static_cast<const float*>(tokens.data) + image * tokens.image + token * tokens.row +
         channel;
}

// Floats between rows of keys and of scores. Rows that lie a power of two apart would share a few lines of the first cache.
inline std::int64_t spread(std::int64_t keys) { return padded(keys) + 2 * k_lanes; }

// Keys [width][keys, `spread`], times 1/sqrt(width), zero-padded up to a multiple of 8.
float* keys_of(const void* packed) { return static_cast<float*>(const_cast<void*>(packed)); }
// Values [keys][width rounded up to 8], zero-padded.
float* values_of(const Attention& task, const void* packed) {
  return keys_of(packed) + task.width * spread(task.keys);
}

// A multiple of 64 bytes, as HeadKernels asks.
std::int64_t whole_lines(std::int64_t floats) { return (floats + 15) / 16 * 64; }

std::int64_t packed_bytes(const Attention& task) {
  return whole_lines(task.width * spread(task.keys) + task.keys * padded(task.width));
}

// Scores [queries][keys, `spread`], then queries [queries][width].
std::int64_t scratch_bytes(const Attention& task) {
  return whole_lines(k_rows * (spread(task.keys) + padded(task.width)));
}

void pack(const Attention& task, std::int64_t image, std::int64_t head, void* packed) {
  float *const packed_keys = keys_of(packed), *const packed_values = values_of(task, packed);
  const std::int64_t stride = spread(task.keys), value_stride = padded(task.width);
  const float scale = 1.0F / __builtin_sqrtf(static_cast<float>(task.width));
  for (std::int64_t t = 0; t < padded(task.keys); ++t) {
    const bool there = t < task.keys;
    const float* const k = there ? row(task.k, image, t, head * task.width) : nullptr;
    for (std::int64_t c = 0; c < task.width; ++c)
      packed_keys[c * stride + t] = there ? k[c] * scale : 0.0F;
    if (!there) continue;
    const float* const v = row(task.v, image, t, head * task.width);
    for (std::int64_t c = 0; c < task.width; c += k_lanes)
      _mm256_storeu_ps(packed_values + t * value_stride + c,
                       _mm256_maskload_ps(v + c, mask_of(task.width - c)));
  }
}

// out[r][0..8n) = or, unless `first`, += the sum over i of a[r][i] * b[i][0..8n): the one product
// that both halves are.
template <int n>
void product(bool first, const float* a, std::int64_t a_stride, const float* b,
             std::int64_t b_stride, std::int64_t depth, float* out, std::int64_t out_stride) {
  __m256 sum[k_rows][n];
#pragma GCC unroll 6
  for (int r = 0; r < k_rows; ++r)
#pragma GCC unroll 2
    for (int j = 0; j < n; ++j) sum[r][j] = _mm256_setzero_ps();
#pragma GCC unroll 4
  for (std::int64_t i = 0; i < depth; ++i) {
    __m256 x[n];
#pragma GCC unroll 2
    for (int j = 0; j < n; ++j) x[j] = _mm256_loadu_ps(b + i * b_stride + j * k_lanes);
#pragma GCC unroll 6
    for (int r = 0; r < k_rows; ++r) {
      const __m256 y = _mm256_broadcast_ss(a + r * a_stride + i);
#pragma GCC unroll 2
      for (int j = 0; j < n; ++j) sum[r][j] = _mm256_fmadd_ps(y, x[j], sum[r][j]);
    }
  }
#pragma GCC unroll 6
  for (int r = 0; r < k_rows; ++r)
#pragma GCC unroll 2
    for (int j = 0; j < n; ++j) {
      float* to = out + r * out_stride + j * k_lanes;
      _mm256_storeu_ps(to, first ? sum[r][j] : _mm256_add_ps(_mm256_loadu_ps(to), sum[r][j]));
    }
}

// A run of the sum, so that the rounding of a long sum of like terms (a masked face's tokens) stays
// that of a short one.
constexpr std::int64_t k_run = 64;

// Of all columns, a multiple of 8.
void product_all(std::int64_t columns, const float* a, std::int64_t a_stride, const float* b,
                 std::int64_t b_stride, std::int64_t depth, float* out, std::int64_t out_stride) {
  for (std::int64_t c = 0; c < columns; c += k_columns)
    for (std::int64_t i = 0; i < depth; i += k_run) {
      const std::int64_t run = depth - i < k_run ? depth - i : k_run;
      const float* const from = b + i * b_stride + c;
      if (columns - c >= k_columns)
        product<2>(i == 0, a + i, a_stride, from, b_stride, run, out + c, out_stride);
      else
        product<1>(i == 0, a + i, a_stride, from, b_stride, run, out + c, out_stride);
    }
}

// The scores that fill the last vector up: e^(score - max) is then nothing.
void fill_up(float* scores, std::int64_t keys) {
  for (std::int64_t t = keys; t < padded(keys); ++t) scores[t] = -__builtin_inff();
}

float highest_of(const float* scores, std::int64_t keys) {
  __m256 top[2] = {_mm256_loadu_ps(scores), _mm256_loadu_ps(scores)};
  std::int64_t t = 0;
  for (; t + 2 * k_lanes <= keys; t += 2 * k_lanes)
    for (int i = 0; i < 2; ++i)
      top[i] = _mm256_max_ps(top[i], _mm256_loadu_ps(scores + t + i * k_lanes));
  for (; t < keys; t += k_lanes) top[0] = _mm256_max_ps(top[0], _mm256_loadu_ps(scores + t));
  float lanes[k_lanes], highest = scores[0];
  _mm256_storeu_ps(lanes, _mm256_max_ps(top[0], top[1]));
  for (const float lane : lanes) highest = lane > highest ? lane : highest;
  return highest;
}

// scores -> e^(score - max), and what to multiply with to make their sum 1. `keys`: filled up.
float softmax(float* scores, std::int64_t keys) {
  const __m256 highest = _mm256_set1_ps(highest_of(scores, keys));
  __m256d sum = _mm256_setzero_pd();
  for (std::int64_t begin = 0; begin < keys; begin += k_run) {
    __m256 of_run = _mm256_setzero_ps();
    const std::int64_t end = keys < begin + k_run ? keys : begin + k_run;
    for (std::int64_t t = begin; t < end; t += k_lanes) {
      const __m256 p = exp_of(_mm256_sub_ps(_mm256_loadu_ps(scores + t), highest));
      of_run = _mm256_add_ps(of_run, p);
      _mm256_storeu_ps(scores + t, p);
    }
    sum = _mm256_add_pd(sum, _mm256_add_pd(doubles(of_run, 0), doubles(of_run, 1)));
  }
  double parts[4];
  _mm256_storeu_pd(parts, sum);
  return static_cast<float>(1.0 / (parts[0] + parts[1] + parts[2] + parts[3]));
}

void attend(const Attention& task, std::int64_t image, std::int64_t head, const void* packed,
            std::int64_t first, std::int64_t rows, void* scratch) {
  const std::int64_t keys = padded(task.keys), width = padded(task.width);
  const std::int64_t stride = spread(task.keys);
  auto* const scores = static_cast<float*>(scratch);
  float* const queries = scores + k_rows * stride;
  for (std::int64_t r = 0; r < k_rows; ++r) {
    // Rows past the end repeat the last one and are not stored.
    const float* q = row(task.q, image, first + (r < rows ? r : rows - 1), head * task.width);
    for (std::int64_t c = 0; c < task.width; ++c) queries[r * task.width + c] = q[c];
  }
  product_all(keys, queries, task.width, keys_of(packed), stride, task.width, scores, stride);
  float part[k_rows];
  for (int r = 0; r < k_rows; ++r) {
    fill_up(scores + r * stride, task.keys);
    part[r] = softmax(scores + r * stride, keys);
  }
  const float* const values = values_of(task, packed);
  for (std::int64_t c = 0; c < width; c += k_columns) {
    float out[k_rows * k_columns];
    const std::int64_t columns = width - c < k_columns ? width - c : k_columns;
    product_all(columns, scores, stride, values + c, width, task.keys, out, k_columns);
    for (std::int64_t r = 0; r < rows; ++r) {
      const std::int64_t token = image * task.queries + first + r;
      float* const y = static_cast<float*>(task.y) + (token * task.heads + head) * task.width + c;
      for (std::int64_t i = 0; i < columns; i += k_lanes)
        store_part(
            y + i, task.width - c - i,
            _mm256_mul_ps(_mm256_loadu_ps(out + r * k_columns + i), _mm256_set1_ps(part[r])));
    }
  }
}

}  // namespace

const HeadKernels& avx2_fp32_heads() {
  static constexpr HeadKernels k_heads{packed_bytes, scratch_bytes, pack, attend};
  return k_heads;
}

}  // namespace navtalk::kernels

#else

namespace navtalk::kernels {

const HeadKernels& avx2_fp32_heads() {
  static constexpr HeadKernels k_none{};
  return k_none;
}

}  // namespace navtalk::kernels

#endif
