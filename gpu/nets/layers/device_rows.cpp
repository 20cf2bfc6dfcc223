#include "gpu/nets/layers/device_rows.h"

#include <ATen/ATen.h>
#include <c10/core/DeviceGuard.h>

#include "core/base/check.h"
#include "gpu/kernels/device/row_ops.h"
#include "gpu/nets/device_stream.h"

namespace navtalk::nets {
namespace {

at::Tensor packed(const at::Tensor& x) {
  return x.dim() == 4 ? x.contiguous(at::MemoryFormat::ChannelsLast) : x.contiguous();
}
cuda::Format format_of_values(const at::Tensor& x) {
  NAVTALK_CHECK(x.scalar_type() == at::kHalf || x.scalar_type() == at::kFloat);
  return x.scalar_type() == at::kHalf ? cuda::Format::fp16 : cuda::Format::fp32;
}
cuda::Rows rows_of(const at::Tensor& x) {
  const std::int64_t channels = x.dim() == 4 ? x.size(1) : x.size(-1);
  return {.format = format_of_values(x),
          .rows = channels == 0 ? 0 : x.numel() / channels,
          .channels = static_cast<int>(channels)};
}
const float* floats(const at::Tensor& x, std::int64_t channels) {
  if (!x.defined()) return nullptr;
  NAVTALK_CHECK(x.numel() == channels);
  return x.const_data_ptr<float>();
}

}  // namespace

void add_on_device(at::Tensor& x, const at::Tensor& add, const at::Tensor& bias) {
  if (!add.defined() && !bias.defined()) return;
  NAVTALK_CHECK(!add.defined() ||
                (add.sizes() == x.sizes() && add.scalar_type() == x.scalar_type()));
  x = packed(x);
  const at::Tensor more = add.defined() ? packed(add) : add;
  const c10::DeviceGuard device(x.device());
  cuda::add_to_rows(rows_of(x), x.const_data_ptr(),
                    more.defined() ? more.const_data_ptr() : nullptr,
                    floats(bias, rows_of(x).channels), x.mutable_data_ptr(), stream_of(x.device()));
}

void add_to_on_device(at::Tensor& sum, const at::Tensor& x, const at::Tensor& bias) {
  at::Tensor there = packed(sum);
  add_on_device(there, x, bias);
  if (!there.is_same(sum)) sum.copy_(there);
}

at::Tensor geglu_on_device(const at::Tensor& x) {
  const at::Tensor whole = packed(x);
  at::Tensor y = at::empty({x.size(0), x.size(1), x.size(2) / 2}, x.options());
  const c10::DeviceGuard device(x.device());
  cuda::geglu(rows_of(y), whole.const_data_ptr(), y.mutable_data_ptr(), stream_of(x.device()));
  return y;
}

at::Tensor layer_norm_on_device(const at::Tensor& x, const at::Tensor& bias,
                                const at::Tensor& gamma, const at::Tensor& beta, float eps) {
  const at::Tensor whole = packed(x);
  at::Tensor y = at::empty_like(whole);
  const c10::DeviceGuard device(x.device());
  cuda::layer_norm(rows_of(whole),
                   {.x = whole.const_data_ptr(),
                    .bias = floats(bias, whole.size(-1)),
                    .gamma = floats(gamma, whole.size(-1)),
                    .beta = floats(beta, whole.size(-1)),
                    .eps = eps,
                    .y = y.mutable_data_ptr()},
                   stream_of(x.device()));
  return y;
}

at::Tensor interleave_on_device(const at::Tensor& phases, const at::Tensor& bias) {
  const at::Tensor whole = packed(phases);
  const std::int64_t channels = phases.size(1) / 4, h = phases.size(2) - 1, w = phases.size(3) - 1;
  at::Tensor y = at::empty({phases.size(0), channels, 2 * h, 2 * w}, phases.options(),
                           at::MemoryFormat::ChannelsLast);
  const c10::DeviceGuard device(phases.device());
  cuda::interleave_phases({.format = format_of_values(phases),
                           .images = static_cast<int>(phases.size(0)),
                           .h = static_cast<int>(h),
                           .w = static_cast<int>(w),
                           .channels = static_cast<int>(channels)},
                          whole.const_data_ptr(), floats(bias, channels), y.mutable_data_ptr(),
                          stream_of(phases.device()));
  return y;
}

}  // namespace navtalk::nets
