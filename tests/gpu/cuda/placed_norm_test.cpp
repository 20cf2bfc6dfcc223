// The nets' GroupNorm layer as it is on a GPU: tensors go to the CUDA kernel, which the emulation runs where there is no device.
#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include <catch2/catch.hpp>

#include "gpu/nets/layers/norm.h"
#include "gpu/nets/vae.h"
#include "tests/gpu/cuda/device_memory.h"
#ifndef NAVTALK_EMULATE_CUDA
#include "gpu/cuda/torch_library.h"
#define NAVTALK_NEEDS_TORCH()                                             \
  NAVTALK_NEEDS_DEVICE();                                                 \
  if (const std::string missing = cuda::load_torch(); !missing.empty()) { \
    WARN("skipped: " << missing);                                         \
    return;                                                               \
  }
#else
#define NAVTALK_NEEDS_TORCH() NAVTALK_NEEDS_DEVICE()
#endif

namespace navtalk::nets {
namespace {

// On the device, or on the CPU with the emulated kernel.
Placement on_device(at::ScalarType type) {
#ifdef NAVTALK_EMULATE_CUDA
  Placement place(type, at::kCPU);
  place.device_kernels = true;
  return place;
#else
  return {type, at::Device(at::kCUDA, 0)};
#endif
}

Weights norm_weights(std::int64_t channels) {
  return Weights([channels](const std::string& name) {
    const at::Tensor steps = at::arange(channels, at::kFloat) / static_cast<double>(channels);
    return name.ends_with("weight") ? steps + 0.5 : steps - 0.25;
  });
}

// Even values in [-1,1), the same each time.
at::Tensor map_of(at::IntArrayRef sizes, double seed) {
  const std::int64_t count = c10::multiply_integers(sizes);
  return at::frac(at::sin(at::arange(count, at::kFloat) * 12.9898 + seed) * 437.585)
      .view(sizes)
      .contiguous(at::MemoryFormat::ChannelsLast);
}

double furthest(const at::Tensor& found, const at::Tensor& wanted) {
  return (found.cpu().to(at::kDouble) - wanted.to(at::kDouble)).abs().max().item<double>();
}

at::Tensor expected(const at::Tensor& x, std::int64_t channels, bool silu) {
  const Weights weights = norm_weights(channels);
  const at::Tensor y = at::group_norm(x.contiguous(), 4, weights("weight"), weights("bias"), 1e-5);
  return silu ? at::silu(y) : y;
}

}  // namespace

TEST_CASE("the nets' norm on a device is libtorch's of the same map, alone, joined and in place") {
  NAVTALK_NEEDS_TORCH();
  const c10::InferenceMode inference;
  const auto type = GENERATE(at::kHalf, at::kFloat);
  const double bound = type == at::kHalf ? 4e-3 : 1e-5;
  const Placement place = on_device(type);
  const at::Tensor x = map_of({2, 24, 9, 7}, 1).to(type), skip = map_of({2, 16, 9, 7}, 2).to(type);
  const bool silu = GENERATE(true, false);
  const GroupNorm alone(norm_weights(24), 4, 1e-5F, silu, NormKernel::own, place);
  const at::Tensor wanted = expected(x.to(at::kFloat), 24, silu);
  at::Tensor there = x.to(place.device);
  CHECK(furthest(alone(there), wanted) < bound);
  CHECK(alone(there).is_contiguous(at::MemoryFormat::ChannelsLast));
  const GroupNorm joined(norm_weights(40), 4, 1e-5F, silu, NormKernel::own, place);
  CHECK(furthest(joined(there, skip.to(place.device)),
                 expected(at::cat({x, skip}, 1).to(at::kFloat), 40, silu)) < bound);
  alone.in_place(there);
  CHECK(furthest(there, wanted) < bound);
  // A map that is not in NHWC is brought into it.
  CHECK(furthest(alone(x.contiguous(at::MemoryFormat::Contiguous).to(place.device)), wanted) <
        bound);
}

}  // namespace navtalk::nets
