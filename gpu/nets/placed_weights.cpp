#include "gpu/nets/placed_weights.h"

#include <ATen/ATen.h>
#include <c10/core/Allocator.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <algorithm>
#include <numeric>

#include "core/base/check.h"
#include "gpu/cuda/page_locked.h"

namespace navtalk::nets {
namespace {

constexpr std::size_t k_alignment = 64;

std::shared_ptr<std::uint8_t> host_memory(const at::Device& device, std::size_t bytes) {
  if (!device.is_cpu()) return cuda::page_locked(bytes);
  return {new std::uint8_t[bytes], std::default_delete<std::uint8_t[]>()};
}

}  // namespace

at::Tensor PlacedWeights::add(at::Tensor weight) {
  NAVTALK_CHECK(weight.device() == device_ && !on_host());
  const at::Storage& memory = weight.storage();
  const bool known = std::ranges::any_of(weights_, [&](const Weight& one) {
    return one.memory.unsafeGetStorageImpl() == memory.unsafeGetStorageImpl();
  });
  if (!known && memory.nbytes() > 0) {
    weights_.push_back({.memory = memory, .bytes = memory.nbytes(), .at = host_bytes_});
    host_bytes_ += (memory.nbytes() + k_alignment - 1) / k_alignment * k_alignment;
  }
  return weight;
}

std::uint64_t PlacedWeights::bytes() const {
  return std::accumulate(weights_.begin(), weights_.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const Weight& one) { return sum + one.bytes; });
}

at::Tensor PlacedWeights::on_device(const Weight& weight) const {
  const auto bytes = static_cast<std::int64_t>(weight.bytes);
  return at::empty({0}, at::TensorOptions().dtype(at::kByte).device(device_))
      .set_(weight.memory, 0, {bytes}, {1});
}

at::Tensor PlacedWeights::in_host(const std::shared_ptr<std::uint8_t>& host,
                                  const Weight& weight) const {
  return at::from_blob(host.get() + weight.at, {static_cast<std::int64_t>(weight.bytes)},
                       at::kByte);
}

void PlacedWeights::release(const Weight& weight) const {
  c10::StorageImpl* const memory = weight.memory.unsafeGetStorageImpl();
  memory->set_data_ptr_noswap(at::DataPtr(nullptr, device_));
  memory->set_nbytes(std::size_t{0});
}

// For all that was launched on the device, in whatever stream.
void PlacedWeights::wait() const {
  if (!device_.is_cpu())
    c10::impl::VirtualGuardImpl(device_.type()).synchronizeDevice(device_.index());
}

void PlacedWeights::to_host() {
  if (on_host() || weights_.empty()) return;
  const c10::DeviceGuard guard(device_);
  wait();  // for nets that still read them
  auto host = host_memory(device_, host_bytes_);
  for (const Weight& weight : weights_) in_host(host, weight).copy_(on_device(weight), true);
  wait();
  for (const Weight& weight : weights_) release(weight);
  host_ = std::move(host);
}

void PlacedWeights::to_device() {
  if (!on_host()) return;
  const c10::DeviceGuard guard(device_);
  c10::Allocator* const allocator = c10::GetAllocator(device_.type());
  try {
    for (const Weight& weight : weights_) {
      c10::StorageImpl* const memory = weight.memory.unsafeGetStorageImpl();
      memory->set_data_ptr_noswap(allocator->allocate(weight.bytes));
      memory->set_nbytes(weight.bytes);
      on_device(weight).copy_(in_host(host_, weight), true);
    }
    wait();
  } catch (...) {
    for (const Weight& weight : weights_) release(weight);
    throw;
  }
  host_ = nullptr;
}

}  // namespace navtalk::nets
