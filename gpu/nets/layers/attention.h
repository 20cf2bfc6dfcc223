// Attention over tokens, and maps as tokens.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace navtalk::nets {

// Attention over heads: q [N,L,C], k and v [N,M,C], each possibly a slice of a wider tensor, to
// [N,L,C].
at::Tensor attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                     std::int64_t heads);

// The same of one head by products of matrices and softmax, for heads so wide that libtorch has no fast kernel: the scores are rounded to the
// net's format.
at::Tensor attention_by_products(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v);

// A map as tokens in row-major order, and back; neither copies.
at::Tensor to_tokens(const at::Tensor& map);
at::Tensor to_map(const at::Tensor& tokens, std::int64_t height, std::int64_t width);

}  // namespace navtalk::nets
