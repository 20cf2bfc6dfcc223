// The memory of a GPU that libtorch has taken for the nets of this process: weights, frames, what a batch works with, and what is
// kept for the next batch. Thread-safe.
#pragma once

#include <cstdint>

#include "gpu/device/device.h"

namespace navtalk {

struct DevicePool {
  std::uint64_t held = 0;  // bytes now
  std::uint64_t most = 0;  // bytes at once, since the last restart_pool()
};
// Zeros on the CPU, and before the first net is on the device.
DevicePool device_pool(const Device& device);
// Gives back what no tensor uses, and begins to count `most` anew. Waits for the device. Error{failed} where the device is lost.
void restart_pool(const Device& device);

}  // namespace navtalk
