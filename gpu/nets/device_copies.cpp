#include "gpu/nets/device_copies.h"

#include <ATen/ATen.h>
#include <c10/core/Event.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <cstring>
#include <utility>

#include "core/base/check.h"

namespace navtalk::nets {
namespace {

// Inputs of the batches that are on their way; pictures of those that wait to be taken out.
constexpr std::size_t k_in = 4, k_out = 8;

c10::Stream copy_stream(const at::Device& device) {
  const c10::impl::VirtualGuardImpl guard(device.type());
  return device.is_cpu() ? guard.getStream(device) : guard.getStreamFromGlobalPool(device, false);
}

c10::Stream current_stream(const at::Device& device) {
  return c10::impl::VirtualGuardImpl(device.type()).getStream(device);
}

class StreamEvent : public DeviceEvent {
 public:
  explicit StreamEvent(const c10::Stream& stream) : event_(stream.device_type()) {
    event_.record(stream);
  }
  bool done() override { return event_.query(); }
  void wait() override { event_.synchronize(); }
  const c10::Event& event() const { return event_; }

 private:
  c10::Event event_;
};

// Page-locked on a GPU; libtorch keeps what is let go for the next one.
StagingRing::Allocate host_memory(const at::Device& device) {
  return [pinned = !device.is_cpu()](std::size_t bytes) {
    const at::Tensor memory = at::empty({static_cast<std::int64_t>(bytes)},
                                        at::TensorOptions().dtype(at::kByte).pinned_memory(pinned));
    auto* const data = static_cast<std::uint8_t*>(memory.mutable_data_ptr());
    return std::shared_ptr<std::uint8_t>(data, [memory](std::uint8_t*) {});
  };
}

}  // namespace

DeviceCopies::DeviceCopies(at::Device device)
    : device_(device),
      stream_(copy_stream(device)),
      in_(k_in, host_memory(device)),
      out_(k_out, host_memory(device)) {}

at::Tensor DeviceCopies::bytes_of(const StagingRing::Block& block, std::int64_t bytes) {
  return at::from_blob(block.data(), {bytes}, at::kByte);
}

at::Tensor DeviceCopies::to_device(at::IntArrayRef sizes, at::ScalarType type,
                                   const std::function<void(std::uint8_t*)>& fill) {
  const auto bytes =
      c10::multiply_integers(sizes) * static_cast<std::int64_t>(c10::elementSize(type));
  const auto block = in_.take(static_cast<std::size_t>(bytes));
  fill(block->data());
  const at::Tensor from = bytes_of(*block, bytes).view(type).view(sizes);
  if (device_.is_cpu()) return from.clone();
  const at::Tensor made = at::empty(sizes, at::TensorOptions().dtype(type).device(device_));
  made.copy_(from, true);
  block->busy_until(std::make_shared<StreamEvent>(current_stream(device_)));
  return made;
}

DeviceCopies::Copy DeviceCopies::to_host(const at::Tensor& from) {
  NAVTALK_CHECK(from.is_contiguous());
  const auto bytes = static_cast<std::int64_t>(from.nbytes());
  Copy copy;
  copy.block_ = out_.take(from.nbytes());
  at::Tensor to = bytes_of(*copy.block_, bytes).view(from.scalar_type()).view(from.sizes());
  if (device_.is_cpu()) {
    to.copy_(from);
    return copy;
  }
  const StreamEvent computed(current_stream(device_));
  {
    const c10::StreamGuard guard(stream_);
    computed.event().block(stream_);
    to.copy_(from, true);
  }
  copy.event_ = std::make_shared<StreamEvent>(stream_);
  copy.block_->busy_until(copy.event_);
  copy.from_ = from;
  return copy;
}

void DeviceCopies::wait() const {
  if (!device_.is_cpu()) StreamEvent(current_stream(device_)).wait();
}

std::shared_ptr<const std::uint8_t> DeviceCopies::Copy::wait() {
  if (event_) event_->wait();
  from_ = at::Tensor();
  return {block_, block_->data()};
}

}  // namespace navtalk::nets
