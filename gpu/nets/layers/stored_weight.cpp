#include "gpu/nets/layers/stored_weight.h"

#include <ATen/ATen.h>

#include <limits>

namespace navtalk::nets {
namespace {

constexpr double k_furthest = 127;
constexpr double k_grid = 1 << 24;  // 1 / fp16's smallest value

// Of each output channel, as the net's format has it, in fp32. Not below what it is to be: fp16's smallest values lie far apart, and the
// furthest value would be beyond 127. Never zero.
at::Tensor factors_of(const at::Tensor& weight, at::ScalarType type) {
  std::vector<std::int64_t> axes;  // all but the output channels
  for (std::int64_t axis = 1; axis < weight.dim(); ++axis) axes.push_back(axis);
  const at::Tensor wanted = weight.abs().amax(axes, true) / k_furthest;
  if (type != at::kHalf) return wanted.clamp_min(std::numeric_limits<float>::min());
  const at::Tensor factors = (wanted * k_grid).ceil().clamp_min(1) / k_grid;
  return factors.to(at::kHalf).to(at::kFloat);
}

}  // namespace

StoredWeight::StoredWeight(const at::Tensor& weight, const Placement& place,
                           at::MemoryFormat format) {
  if (place.weights == WeightFormat::computed || weight.numel() < k_least) {
    values_ = place.place(weight, format);
    return;
  }
  const at::Tensor factors = factors_of(weight, place.type);
  const at::Tensor whole = (weight / factors).round().clamp(-k_furthest, k_furthest);
  values_ = place.in(at::kChar).place(whole, format);
  factors_ = place.place(factors);
}

// One pass over the weight.
at::Tensor StoredWeight::get() const {
  if (!factors_.defined()) return values_;
  at::Tensor expanded = at::empty_like(values_, factors_.options());
  return at::mul_out(expanded, values_, factors_);
}

}  // namespace navtalk::nets
