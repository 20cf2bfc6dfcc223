#include "gpu/nets/transformer.h"

#include <ATen/ATen.h>

#include "gpu/nets/layers/activation.h"
#include "gpu/nets/layers/attention.h"

namespace navtalk::nets {
namespace {

constexpr float k_norm_eps = 1e-6F;  // of the GroupNorm here, unlike the UNet's other ones

// A 1x1 convolution's weight as a matrix.
at::Tensor matrix(const at::Tensor& weight) { return weight.flatten(1); }

at::Tensor merged(const Weights& attention) {
  return at::cat({attention("to_q.weight"), attention("to_k.weight"), attention("to_v.weight")}, 0);
}

}  // namespace

Transformer::Transformer(const Weights& weights, std::int64_t heads, std::int64_t groups,
                         std::int64_t map_size, const Placement& place)
    : Transformer(weights, weights.in("transformer_blocks", 0), heads, groups, map_size * map_size,
                  place) {}

Transformer::Transformer(const Weights& weights, const Weights& block, std::int64_t heads,
                         std::int64_t groups, std::int64_t rows, const Placement& place)
    : heads_(heads),
      norm_(weights.in("norm"), groups, k_norm_eps, false, NormKernel::own, place),
      proj_in_(matrix(weights("proj_in.weight")), weights("proj_in.bias"), rows, place),
      norm1_(block.in("norm1"), place),
      norm2_(block.in("norm2"), place),
      norm3_(block.in("norm3"), place),
      self_(merged(block.in("attn1")), {}, rows, place),
      self_out_(block("attn1.to_out.0.weight"), block("attn1.to_out.0.bias"), rows, place),
      query_(block("attn2.to_q.weight"), {}, rows, place),
      cross_out_(block("attn2.to_out.0.weight"), block("attn2.to_out.0.bias"), rows, place),
      gate_(block("ff.net.0.proj.weight"), block("ff.net.0.proj.bias"), rows, place),
      ff_out_(block("ff.net.2.weight"), block("ff.net.2.bias"), rows, place),
      proj_out_(matrix(weights("proj_out.weight")), weights("proj_out.bias"), rows, place) {}

at::Tensor Transformer::operator()(const at::Tensor& x, const at::Tensor& keys,
                                   const at::Tensor& values) const {
  at::Tensor h = proj_in_(to_tokens(norm_(x)));
  const std::vector<at::Tensor> qkv = self_(norm1_(h)).chunk(3, 2);
  h = self_out_.plus(attention(qkv[0], qkv[1], qkv[2], heads_), h);
  h = cross_out_.plus(attention(query_(norm2_(h)), keys, values, heads_), h);
  h = ff_out_.plus(geglu_of(gate_(norm3_(h))), h);
  return to_map(proj_out_.plus(h, to_tokens(x)), x.size(2), x.size(3));
}

}  // namespace navtalk::nets
