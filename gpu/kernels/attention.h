// Softmax attention for small heads, where library calls cost more than the arithmetic. AVX-512
// only: elsewhere libtorch's scaled_dot_product_attention does it.
#pragma once

#include <cstdint>

#include "gpu/kernels/isa.h"

namespace navtalk::kernels {

// Rows of tokens inside a wider tensor: token t of image i begins at data + i * image + t * row
// (in elements), head h `width` elements further for each head before it.
struct Tokens {
  const void* data = nullptr;
  std::int64_t image = 0, row = 0;
};

struct Attention {
  Tokens q, k, v;
  void* y = nullptr;  // [images, queries, heads * width]
  Format format = Format::fp32;
  std::int64_t images = 1, heads = 1, queries = 0, keys = 0, width = 0;
};

bool has_attention(Isa isa = best_isa());
// y = softmax(q k^T / sqrt(width)) v, in fp32 inside. Needs has_attention().
void attention(const Attention& task);

// Behind it: one head's keys and values as fp32, and a few of its queries.
struct PackedHead {
  float* keys;    // [width][keys rounded up to 16], times 1/sqrt(width), zero-padded
  float* values;  // [keys][width rounded up to 16], zero-padded
};
inline constexpr std::int64_t k_query_rows = 6;  // fills the registers with four vectors each
void pack_head(const Attention& task, std::int64_t image, std::int64_t head,
               const PackedHead& packed);
// Queries first to first + rows (at most k_query_rows); `scores` is scratch of k_query_rows x keys
// rounded up to 16, plus k_query_rows x width.
void attend_rows(const Attention& task, std::int64_t image, std::int64_t head,
                 const PackedHead& packed, std::int64_t first, std::int64_t rows, float* scores);

}  // namespace navtalk::kernels
