// What a worker's device tells of itself: CUDA, libtorch and NVML of a GPU, the kernel of a CPU.
#pragma once

#include <functional>

#include "gpu/device/device.h"
#include "gpu/device/memory_budget.h"
#include "server/worker/device/nets_memory.h"
#include "server/worker/engine.h"

namespace navtalk::server {

// For health and metrics, on any one thread.
std::function<DeviceUse()> device_use_of(const Device& device);

// Of a GPU; zeros where CUDA does not tell.
DeviceMemory memory_of_device(const Device& device);
DeviceMeter meter_of(const Device& device);

}  // namespace navtalk::server
