// The stream in which an encoder gets its pictures, on a device.
#include <cuda_runtime_api.h>

#include <catch2/catch.hpp>
#include <vector>

#include "gpu/cuda/encoder_context.h"
#include "tests/gpu/cuda/device_memory.h"

using namespace navtalk;

TEST_CASE("an encoder's stream copies what the nets have made, and waits for no other stream") {
  NAVTALK_NEEDS_DEVICE();
  const std::vector<std::uint8_t> bytes{5, 4, 3, 2, 1};
  const tests::DeviceMemory from(bytes), to(bytes.size());
  const cuda::EncoderContext own = cuda::encoder_context(0);
  REQUIRE(own.context != nullptr);
  auto* const stream = static_cast<cudaStream_t>(own.stream.get());
  unsigned flags = 0;
  cuda::check(cudaStreamGetFlags(stream, &flags), "cudaStreamGetFlags");
  CHECK(flags == cudaStreamNonBlocking);
  cuda::check(
      cudaMemcpyAsync(to.data(), from.data(), bytes.size(), cudaMemcpyDeviceToDevice, stream),
      "cudaMemcpyAsync");
  cuda::check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  CHECK(to.get() == bytes);
}
