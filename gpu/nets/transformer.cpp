#include "gpu/nets/transformer.h"

#include <ATen/ATen.h>

#include <utility>

#include "gpu/nets/layers/activation.h"
#include "gpu/nets/layers/attention.h"
#include "gpu/nets/layers/device_rows.h"

namespace navtalk::nets {
namespace {

constexpr float k_norm_eps = 1e-6F;  // of the GroupNorm here, unlike the UNet's other ones

// A 1x1 convolution's weight as a matrix.
at::Tensor matrix(const at::Tensor& weight) { return weight.flatten(1); }

// With device_kernels the biases of what was added to the tokens are summed up, and added by the next norm that reads the tokens, at the end
// with the last sum. The first `count` of them; undefined without device_kernels.
at::Tensor deferred(const Weights& block, int count, const Placement& place) {
  if (!place.device_kernels) return {};
  at::Tensor sum = block("attn1.to_out.0.bias");
  if (count > 1) sum = sum + block("attn2.to_out.0.bias");
  if (count > 2) sum = sum + block("ff.net.2.bias");
  return sum;
}
at::Tensor last_bias(const Weights& weights, const Weights& block, const Placement& place) {
  if (!place.device_kernels) return {};
  return place.in(at::kFloat)
      .place(at::linear(deferred(block, 3, place), matrix(weights("proj_out.weight")),
                        weights("proj_out.bias")));
}

// Of a layer whose bias deferred() has.
at::Tensor own_bias(const at::Tensor& bias, const Placement& place) {
  return place.device_kernels ? at::Tensor() : bias;
}

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
      norm2_(block.in("norm2"), place, deferred(block, 1, place)),
      norm3_(block.in("norm3"), place, deferred(block, 2, place)),
      self_(merged(block.in("attn1")), {}, rows, place),
      self_out_(block("attn1.to_out.0.weight"), own_bias(block("attn1.to_out.0.bias"), place), rows,
                place),
      query_(block("attn2.to_q.weight"), {}, rows, place),
      cross_out_(block("attn2.to_out.0.weight"), own_bias(block("attn2.to_out.0.bias"), place),
                 rows, place),
      gate_(block("ff.net.0.proj.weight"), block("ff.net.0.proj.bias"), rows, place),
      ff_out_(block("ff.net.2.weight"), own_bias(block("ff.net.2.bias"), place), rows, place),
      proj_out_(matrix(weights("proj_out.weight")), own_bias(weights("proj_out.bias"), place), rows,
                place),
      last_bias_(last_bias(weights, block, place)) {}

// Sums are made within the products.
at::Tensor Transformer::on_device(at::Tensor x, const at::Tensor& keys,
                                  const at::Tensor& values) const {
  x = x.contiguous(at::MemoryFormat::ChannelsLast);
  at::Tensor h = proj_in_(to_tokens(norm_(x)));
  const std::vector<at::Tensor> qkv = self_(norm1_(h)).chunk(3, 2);
  self_out_.add_product_to(h, attention(qkv[0], qkv[1], qkv[2], heads_));
  cross_out_.add_product_to(h, attention(query_(norm2_(h)), keys, values, heads_));
  ff_out_.add_product_to(h, geglu_on_device(gate_(norm3_(h))));
  at::Tensor sum = to_tokens(x);
  proj_out_.add_product_to(sum, h);
  add_on_device(x, {}, last_bias_);
  return x;
}

at::Tensor Transformer::operator()(at::Tensor x, const at::Tensor& keys,
                                   const at::Tensor& values) const {
  if (last_bias_.defined()) return on_device(std::move(x), keys, values);
  at::Tensor h = proj_in_(to_tokens(norm_(x)));
  const std::vector<at::Tensor> qkv = self_(norm1_(h)).chunk(3, 2);
  h = self_out_.plus(attention(qkv[0], qkv[1], qkv[2], heads_), h);
  h = cross_out_.plus(attention(query_(norm2_(h)), keys, values, heads_), h);
  h = ff_out_.plus(geglu_of(gate_(norm3_(h))), h);
  return to_map(proj_out_.plus(h, to_tokens(x)), x.size(2), x.size(3));
}

}  // namespace navtalk::nets
