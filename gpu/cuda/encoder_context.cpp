#include "gpu/cuda/encoder_context.h"

#include <cuda_runtime_api.h>

#include <utility>

#include "core/base/error.h"
#include "gpu/cuda/launch_error.h"

namespace navtalk::cuda {
namespace {

// The calling thread's device, until this ends.
class OnDevice {
 public:
  explicit OnDevice(int gpu) {
    check(cudaGetDevice(&before_), "cudaGetDevice");
    check(cudaSetDevice(gpu), "cudaSetDevice");
  }
  ~OnDevice() { cudaSetDevice(before_); }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

 private:
  int before_ = 0;
};

// The runtime's name for the driver's function: libcuda.so.1 is not linked.
void* current_context() {
  constexpr unsigned k_since = 4000;  // CUDA 4.0
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
  check(cudaGetDriverEntryPointByVersion("cuCtxGetCurrent", &function, k_since, cudaEnableDefault,
                                         &found),
        "cuCtxGetCurrent");
  void* context = nullptr;
  if (found != cudaDriverEntryPointSuccess ||
      reinterpret_cast<int (*)(void**)>(function)(&context) != 0 || context == nullptr)
    throw Error(Code::failed, "the driver names no context of the GPU");
  return context;
}

}  // namespace

EncoderContext encoder_context(int gpu) {
  const OnDevice there(gpu);
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
  std::shared_ptr<void> owned(stream, [](void* one) {
    if (cudaStreamDestroy(static_cast<cudaStream_t>(one)) != cudaSuccess)
      cudaGetLastError();  // or the next launch would report it
  });
  return {.context = current_context(), .stream = std::move(owned)};
}

}  // namespace navtalk::cuda
