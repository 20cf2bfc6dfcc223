// Times the image kernels on a device.
#pragma once

#include <chrono>
#include <stop_token>
#include <string>
#include <vector>

#include "gpu/image/device/image_launches.h"

namespace navtalk::cuda {

struct ImageTimes {
  std::string operation, area;
  std::ptrdiff_t bytes = 0;  // that one call has to move; 0 for copies between host and device
  std::vector<std::chrono::duration<double>> runs;  // of one call, for the whole batch
};
struct ImageBench {
  double bytes_per_second = 0;  // of a copy inside the device, read and written together
  std::vector<ImageTimes> times;
};

// On the first device, which devices() has listed. Successive calls use other memory, four times the L2 cache together where the device
// has so much, so that no call finds its input there. `budget` is for each operation; the copies and what the frame pays come first.
// What was measured before an error is in `bench`. Error{interrupted}, Error{terminated}.
void bench_images(const BenchPictures& pictures, std::chrono::duration<double> budget,
                  const std::stop_token& stop, ImageBench& bench);

}  // namespace navtalk::cuda
