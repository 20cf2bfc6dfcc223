// Softmax attention for small heads, where library calls cost more than the arithmetic. AVX-512, and AVX2 for fp32:
// elsewhere libtorch's scaled_dot_product_attention does it.
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

bool has_attention(Format format, Isa isa = best_isa());
// y = softmax(q k^T / sqrt(width)) v; needs has_attention(task.format, isa). fp32 tokens are multiplied and summed
// in fp32; bf16 ones, and their softmax's weights, are multiplied as bf16 and summed in fp32.
void attention(const Attention& task, Isa isa = best_isa());

// Behind it, one set for each format: one head's keys and values in the order in which they are
// read, and a few of its queries.
inline constexpr std::int64_t k_query_rows =
    6;  // fills the registers with four vectors of AVX-512 each, or two of AVX2
struct HeadKernels {
  // Bytes of packed keys and values, and of the scratch that k_query_rows queries need; each a
  // multiple of 64.
  std::int64_t (*packed_bytes)(const Attention& task);
  std::int64_t (*scratch_bytes)(const Attention& task);
  void (*pack)(const Attention& task, std::int64_t image, std::int64_t head, void* packed);
  // Queries first to first + rows, at most k_query_rows.
  void (*attend)(const Attention& task, std::int64_t image, std::int64_t head, const void* packed,
                 std::int64_t first, std::int64_t rows, void* scratch);
};
const HeadKernels& avx2_fp32_heads();
const HeadKernels& avx512_fp32_heads();
const HeadKernels& avx512_bf16_heads();

}  // namespace navtalk::kernels
