#include "gpu/nets/layers/stored_weight.h"

#include <ATen/ATen.h>

namespace navtalk::nets {
namespace {

constexpr double k_furthest = 127;
constexpr double k_smallest = 1.0 / (1 << 24);  // in fp16

}  // namespace

StoredWeight::StoredWeight(const at::Tensor& weight, const Placement& place,
                           at::MemoryFormat format) {
  if (!place.eight_bits) {
    values_ = place.place(weight).contiguous(format);
    return;
  }
  const at::Tensor exact = weight.to(at::kFloat);
  std::vector<std::int64_t> axes;  // all but the output channels
  for (std::int64_t axis = 1; axis < exact.dim(); ++axis) axes.push_back(axis);
  const at::Tensor step = (exact.abs().amax(axes, true) / k_furthest).clamp_min(k_smallest);
  // Values are rounded for the factor as the net's format has it.
  const at::Tensor factors = step.to(place.type).to(at::kFloat);
  const at::Tensor whole = (exact / factors).round().clamp(-k_furthest, k_furthest);
  values_ = whole.to(at::kChar).to(place.device).contiguous(format);
  factors_ = factors.to(place.device, place.type);
}

at::Tensor StoredWeight::get() const {
  return factors_.defined() ? values_.to(factors_.scalar_type()).mul_(factors_) : values_;
}

}  // namespace navtalk::nets
