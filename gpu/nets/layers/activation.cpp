#include "gpu/nets/layers/activation.h"

#include <ATen/ATen.h>

#include "gpu/kernels/tokens.h"
#include "gpu/nets/layers/format.h"

namespace navtalk::nets {

at::Tensor gelu_of(const at::Tensor& x) {
  if (!has_kernels(x)) return at::gelu(x);
  at::Tensor y = at::empty_like(x);
  kernels::gelu(x.const_data_ptr(), y.mutable_data_ptr(), format_of(x), x.numel());
  return y;
}

at::Tensor geglu_of(const at::Tensor& x) {
  const std::int64_t channels = x.size(2) / 2;
  if (!has_kernels(x))
    return at::gelu(x.narrow(2, channels, channels)).mul_(x.narrow(2, 0, channels));
  at::Tensor y = at::empty({x.size(0), x.size(1), channels}, x.options());
  kernels::geglu(x.const_data_ptr(), y.mutable_data_ptr(), format_of(x), x.size(0) * x.size(1),
                 channels);
  return y;
}

}  // namespace navtalk::nets
