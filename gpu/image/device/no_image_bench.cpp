// For builds without CUDA.
#include "core/base/error.h"
#include "gpu/cuda/devices.h"
#include "gpu/image/device/image_bench.h"

namespace navtalk::cuda {

ImageBench bench_images(const BenchPictures&, std::chrono::duration<double>,
                        const std::stop_token&) {
  throw Error(Code::invalid, devices().missing);
}

}  // namespace navtalk::cuda
