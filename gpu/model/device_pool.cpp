#include "gpu/model/device_pool.h"

#include <ATen/ATen.h>
#include <c10/core/CachingDeviceAllocator.h>

#include <algorithm>

#include "gpu/model/torch_call.h"

namespace navtalk {
namespace {

constexpr auto k_all = static_cast<std::size_t>(c10::CachingAllocator::StatType::AGGREGATE);

std::uint64_t bytes(std::int64_t count) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(0, count));
}

// Null on the CPU, and before libtorch's part for GPUs is used.
c10::DeviceAllocator* allocator_of(const Device& device) {
  if (device.kind == Device::Kind::cpu) return nullptr;
  auto* const found = dynamic_cast<c10::DeviceAllocator*>(c10::GetAllocator(c10::kCUDA));
  return found != nullptr && found->initialized() ? found : nullptr;
}

}  // namespace

DevicePool device_pool(const Device& device) {
  c10::DeviceAllocator* const allocator = allocator_of(device);
  if (allocator == nullptr) return {};
  const auto stats = allocator->getDeviceStats(static_cast<c10::DeviceIndex>(device.index));
  const auto& pool = stats.reserved_bytes.at(k_all);
  return {.held = bytes(pool.current), .most = bytes(pool.peak)};
}

void restart_pool(const Device& device) {
  c10::DeviceAllocator* const allocator = allocator_of(device);
  if (allocator == nullptr) return;
  run(at::get_num_threads(), "giving back the device's memory", [&] {
    allocator->emptyCache();
    allocator->resetPeakStats(static_cast<c10::DeviceIndex>(device.index));
  });
}

}  // namespace navtalk
