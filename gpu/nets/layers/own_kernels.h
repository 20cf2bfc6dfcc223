// Which layers our own kernels take from oneDNN.
#pragma once

#include <cstdint>

#include "gpu/kernels/isa.h"
#include "gpu/nets/placement.h"

namespace navtalk::nets {

// Who computes a convolution: oneDNN, or our own kernels (gpu/kernels/winograd, gpu/kernels/conv) where they are faster. In bf16 these round a
// little more than oneDNN; in fp32 they do not, and `library` is a request for comparisons only.
enum class ConvKernel : std::uint8_t { library, winograd };
// For nets that the rounding of bf16 would cost too much.
inline ConvKernel winograd_in_fp32(const Placement& place) {
  return place.type == at::kFloat ? ConvKernel::winograd : ConvKernel::library;
}

// Whether the kernels for narrow maps are to take a convolution of so many channels: where they are wanted and were measured to
// be faster, which is bf16 on AVX-512 with up to 64 (AMX multiplies faster than they save) and fp32 on AVX2 and AVX-512 with up
// to 128.
bool own_kernels(ConvKernel wanted, std::int64_t channels, const Placement& place);

// Whether our own kernels are to take a linear layer, or a convolution with any kernel but not in groups, of so many input channels:
// fp32 on AVX2 and AVX-512. oneDNN packs weights for one size of batch, so that another one packs them anew each time, and on AVX2
// divides the sums of linear layers between threads, so that their number would change pixels.
bool takes_direct(std::int64_t channels, const Placement& place);

// Whether they are to take a convolution with `weight` [C,1,taps,taps], whose channels do not see each other: likewise.
bool takes_depthwise(const at::Tensor& weight, std::int64_t stride, const Placement& place);

// The instructions of this processor.
kernels::Isa isa();
constexpr std::int64_t k_kernel_step = 16;  // channels that the kernels take together

}  // namespace navtalk::nets
