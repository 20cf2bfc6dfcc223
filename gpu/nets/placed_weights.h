// The weights that nets keep on one device: counted, and moved to host memory and back. Only for sources that include ATen.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace navtalk::nets {

// One thread at a time, and while weights move no net that has them runs. Nets keep their tensors, whose memory comes and goes.
class PlacedWeights {
 public:
  explicit PlacedWeights(at::Device device) : device_(device) {}

  // From now on the tensor's memory is counted and moves with the rest, with that of all tensors that share it. Returns the tensor.
  at::Tensor add(at::Tensor weight);
  // Of all weights, wherever they are now.
  std::uint64_t bytes() const;

  // Copies the weights of a GPU into page-locked memory, then lets go of the device's. A device that is the CPU has a plain copy.
  // Nothing where they are there already. After an error they are where they were.
  void to_host();
  // The reverse. c10::OutOfMemoryError where the device has no memory: then they are still in host memory.
  void to_device();
  bool on_host() const { return host_ != nullptr; }

 private:
  struct Weight {
    at::Storage memory;
    std::size_t bytes = 0;
    std::size_t at = 0;  // in the host's memory
  };

  at::Tensor on_device(const Weight& weight) const;
  at::Tensor in_host(const std::shared_ptr<std::uint8_t>& host, const Weight& weight) const;
  void release(const Weight& weight) const;
  void wait() const;

  const at::Device device_;
  std::vector<Weight> weights_{};
  std::size_t host_bytes_ = 0;            // with what aligns them
  std::shared_ptr<std::uint8_t> host_{};  // nullptr: they are on the device
};

}  // namespace navtalk::nets
