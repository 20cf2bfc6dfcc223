// Normalisation of maps and of tokens.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "gpu/kernels/group_norm.h"
#include "gpu/nets/placement.h"
#include "gpu/nets/weights.h"

namespace navtalk::nets {

// Whose GroupNorm: our own, or libtorch's for maps in channels_last, whose variance, a difference
// of means of squares, is up to some 1e-4 off. The second one is for comparisons only.
// `placed`: for maps that are not packed for the CPU; on a GPU the CUDA kernel.
enum class NormKernel : std::uint8_t { own, library, placed };

// GroupNorm, then SiLU unless told otherwise.
class GroupNorm {
 public:
  // `bias` [C] is added to x first; it may be undefined, and is taken with device_kernels only.
  GroupNorm(const Weights& weights, std::int64_t groups, float eps, bool silu = true,
            NormKernel kernel = NormKernel::own, const Placement& place = at::kFloat,
            const at::Tensor& bias = {});
  at::Tensor operator()(const at::Tensor& x) const;
  // Of the concatenation of two maps on the channel axis.
  at::Tensor operator()(const at::Tensor& x, const at::Tensor& skip) const;
  // Overwrites x.
  void in_place(at::Tensor& x) const;
  // What it does to x before SiLU, as a factor and a summand for each image and channel.
  struct Affine {
    std::vector<float> scale, shift;  // [N,C]
  };
  Affine affine(const at::Tensor& x) const;

 private:
  kernels::GroupNorm task(const at::Tensor& x, const at::Tensor* skip) const;
  void run(const at::Tensor& x, const at::Tensor* skip, at::Tensor& y) const;
  at::Tensor by_library(const at::Tensor& x) const;
  at::Tensor placed(const at::Tensor& x, const at::Tensor* skip) const;
  at::Tensor on_device(const at::Tensor& x, const at::Tensor* skip) const;
  at::Tensor gamma_, beta_, bias_;
  std::int64_t groups_;
  float eps_;
  bool silu_;
  NormKernel kernel_;
  bool on_device_;
};

class LayerNorm {
 public:
  // `bias` as that of GroupNorm.
  explicit LayerNorm(const Weights& weights, const Placement& place = at::kFloat,
                     const at::Tensor& bias = {});
  at::Tensor operator()(const at::Tensor& x) const;

 private:
  at::Tensor gamma_, beta_, bias_;
  bool packed_, on_device_;
};

}  // namespace navtalk::nets
