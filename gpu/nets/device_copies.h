// What crosses between host and device: through page-locked memory. Inputs are small, and come in the stream that computes, which waits for
// them anyway; results go in a stream of their own beside it. On the CPU, as if it were a device, all is copied at once. No tensor is lent
// to a second stream by record_stream(): after an error of the device its end would throw from a destructor. Only for sources that
// include ATen.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Stream.h>

#include <cstdint>
#include <functional>
#include <memory>

#include "gpu/device/staging_ring.h"

namespace navtalk::nets {

// One device. Thread-safe; may end while blocks are held.
class DeviceCopies {
 public:
  explicit DeviceCopies(at::Device device);

  // A tensor of that type on the device, of what `fill` writes into nbytes of host memory: copied in the calling thread's current stream.
  at::Tensor to_device(at::IntArrayRef sizes, at::ScalarType type,
                       const std::function<void(std::uint8_t*)>& fill);

  // A copy of a contiguous tensor's bytes, made after what the current stream was given so far. It holds the tensor until wait(); one that
  // nobody waits for may be overtaken by what the tensor's memory is used for next.
  class Copy {
   public:
    // Where they are, once they are there; held until the last copy of the pointer ends.
    std::shared_ptr<const std::uint8_t> wait();

   private:
    friend class DeviceCopies;
    std::shared_ptr<StagingRing::Block> block_{};
    std::shared_ptr<DeviceEvent> event_{};  // nullptr: they are there
    at::Tensor from_{};
  };
  Copy to_host(const at::Tensor& from);

  // Returns when the device has done what the calling thread's current stream was given so far.
  void wait() const;

 private:
  // Memory of a block as a tensor.
  static at::Tensor bytes_of(const StagingRing::Block& block, std::int64_t bytes);

  const at::Device device_;
  const c10::Stream stream_;  // of results
  StagingRing in_, out_;
};

}  // namespace navtalk::nets
