// For builds without CUDA.
#include "core/base/error.h"
#include "gpu/cuda/devices.h"
#include "gpu/image/device/image_bench.h"

namespace navtalk::cuda {

void bench_images(const BenchPictures&, std::chrono::duration<double>, const std::stop_token&,
                  ImageBench&) {
  throw Error(Code::invalid, devices().missing);
}

}  // namespace navtalk::cuda
