// Which 3x3 convolutions our own kernels take from oneDNN (gpu/kernels/conv).
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>

#include "gpu/kernels/conv/winograd_conv.h"
#include "gpu/nets/placement.h"

namespace navtalk::nets {

// Who computes a 3x3 convolution: oneDNN, or our own kernels (gpu/kernels/conv) where they are faster, which is bf16 on
// AVX-512 with 16 to 64 channels. There they round a little more than oneDNN. In fp32 they do not, and `library` is a
// request for comparisons only.
enum class ConvKernel : std::uint8_t { library, winograd };
// For nets that the rounding of bf16 would cost too much.
inline ConvKernel winograd_in_fp32(const Placement& place) {
  return place.type == at::kFloat ? ConvKernel::winograd : ConvKernel::library;
}

// Whether our own kernels are to take a convolution of so many channels: where they are wanted and were measured to be
// faster, which is bf16 on AVX-512 (AMX multiplies faster than they save) and fp32 on AVX2.
bool own_kernels(ConvKernel wanted, std::int64_t channels, const Placement& place);

// The Winograd convolution, or nullopt where oneDNN's is to be taken.
std::optional<kernels::WinogradConv> winograd(kernels::WinogradKind kind, ConvKernel wanted,
                                              const at::Tensor& weight, const at::Tensor& bias,
                                              const Placement& place);

}  // namespace navtalk::nets
