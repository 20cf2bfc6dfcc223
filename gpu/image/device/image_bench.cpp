#include "gpu/image/device/image_bench.h"

#include <cuda_runtime_api.h>

#include <algorithm>

#include "gpu/cuda/device_block.h"
#include "gpu/cuda/devices.h"
#include "gpu/cuda/launch_error.h"
#include "gpu/cuda/launch_timer.h"

namespace navtalk::cuda {
namespace {

constexpr std::size_t k_most_sets = 512;

// So many sets of pictures that an operation which touches so many bytes of each passes the L2 cache four times over. More of them would
// only take longer.
std::size_t sets_of(std::ptrdiff_t bytes, std::size_t l2_bytes) {
  return std::min(4 * l2_bytes / static_cast<std::size_t>(bytes) + 1, k_most_sets);
}

class PinnedMemory {
 public:
  explicit PinnedMemory(std::size_t bytes) : bytes_(bytes) {
    check(cudaMallocHost(&data_, bytes), "cudaMallocHost");
  }
  ~PinnedMemory() { cudaFreeHost(data_); }
  PinnedMemory(const PinnedMemory&) = delete;
  PinnedMemory& operator=(const PinnedMemory&) = delete;
  std::span<std::uint8_t> bytes() const { return {static_cast<std::uint8_t*>(data_), bytes_}; }

 private:
  void* data_ = nullptr;
  std::size_t bytes_;
};

}  // namespace

void bench_images(const BenchPictures& pictures, std::chrono::duration<double> budget,
                  const std::stop_token& stop, ImageBench& bench) {
  check(cudaSetDevice(0), "cudaSetDevice");
  LaunchTimer timer;
  bench.bytes_per_second = copy_rate(timer, stop);
  const ImageLaunches launches(pictures);
  const std::size_t l2_bytes = devices().list.front().l2_bytes;
  std::ptrdiff_t fewest = launches.all().front().bytes;
  for (const ImageLaunch& launch : launches.all()) fewest = std::min(fewest, launch.bytes);
  const std::size_t room = free_device_memory() / 2 / launches.memory_bytes();
  // Each set starts where a block of cudaMalloc would.
  const std::size_t stride = (launches.memory_bytes() + 255) / 256 * 256;
  const std::size_t sets = std::clamp<std::size_t>(room, 1, sets_of(fewest, l2_bytes));
  const DeviceBlock memory(sets * stride);
  const PinnedMemory one_set(launches.memory_bytes());
  launches.fill(one_set.bytes());
  for (std::size_t set = 0; set < sets; ++set)
    check(cudaMemcpy(memory.data() + set * stride, one_set.bytes().data(), one_set.bytes().size(),
                     cudaMemcpyHostToDevice),
          "cudaMemcpy");
  const std::size_t frame = static_cast<std::size_t>(pictures.batch) * 3 *
                            static_cast<std::size_t>(pictures.width * pictures.height);
  for (const bool upload : {true, false})
    bench.times.push_back(
        {upload ? "copy to device" : "copy to host", "frame", 0,
         timer.time(
             [&](Stream stream) {
               void *host = one_set.bytes().data(), *device = memory.data();
               check(cudaMemcpyAsync(upload ? device : host, upload ? host : device, frame,
                                     upload ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost,
                                     static_cast<cudaStream_t>(stream)),
                     "cudaMemcpyAsync");
             },
             1, budget, stop)});
  for (const bool first : {true, false})
    for (const ImageLaunch& launch : launches.all()) {
      if (first != (launch.area == "frame")) continue;
      const std::size_t used = std::min(sets, sets_of(launch.bytes, l2_bytes));
      bench.times.push_back({launch.operation, launch.area, launch.bytes,
                             timer.time(
                                 [&](Stream stream) {
                                   for (std::size_t set = 0; set < used; ++set)
                                     launch.enqueue(memory.data() + set * stride, stream);
                                 },
                                 static_cast<int>(used), budget, stop)});
    }
}

}  // namespace navtalk::cuda
