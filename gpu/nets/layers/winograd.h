// Which 3x3 convolutions our own kernels take from oneDNN (gpu/kernels/conv).
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>

#include "gpu/kernels/conv/winograd_conv.h"
#include "gpu/nets/placement.h"

namespace navtalk::nets {

// Who computes a 3x3 convolution: oneDNN, or our Winograd kernels (gpu/kernels/conv) where they are
// faster, which is bf16 on AVX-512 with 16 to 64 channels. They round a little more than oneDNN.
enum class ConvKernel : std::uint8_t { library, winograd };

// Whether our own kernels for narrow maps were measured to be faster. AMX multiplies faster than
// they save.
bool own_kernels(ConvKernel wanted, std::int64_t inputs, const Placement& place);

// The Winograd convolution, or nullopt where oneDNN's is to be taken.
std::optional<kernels::WinogradConv> winograd(kernels::WinogradKind kind, ConvKernel wanted,
                                              const at::Tensor& weight, const at::Tensor& bias,
                                              const Placement& place);

// The numbers of a bf16 map.
std::uint16_t* halves(at::Tensor& map);
const std::uint16_t* halves(const at::Tensor& map);

}  // namespace navtalk::nets
