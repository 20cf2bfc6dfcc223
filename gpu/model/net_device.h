// Where some of a model's nets run, and what that device needs for it. Only for sources that include ATen.
#pragma once

#include <ATen/Context.h>
#include <ATen/core/Tensor.h>

#include <cstring>
#include <memory>
#include <utility>

#include "core/log/log.h"
#include "core/tensor/ndarray.h"
#include "gpu/cuda/graphs/graph_recorder.h"
#include "gpu/device/device.h"
#include "gpu/model/torch_call.h"
#include "gpu/nets/device_copies.h"
#include "gpu/nets/graphed_net.h"
#include "gpu/nets/layers/format.h"
#include "gpu/nets/placed_weights.h"
#include "gpu/nets/placement.h"

namespace navtalk {

inline at::Device torch_device(const Device& device) {
  if (device.kind == Device::Kind::cpu) return at::kCPU;
  return {at::kCUDA, static_cast<at::DeviceIndex>(device.index)};
}

// Sums in fp32, products of fp32 as they are, and the same algorithms every time: the same input gives the same pixels.
inline void compute_exactly() {
  at::Context& context = at::globalContext();
  context.setAllowTF32CuDNN(false);
  context.setAllowTF32CuBLAS(false);
  context.setAllowFP16ReductionCuBLAS(false);
  context.setDeterministicCuDNN(true);
  context.setBenchmarkCuDNN(false);
}

class NetDevice {
 public:
  // `placed`: with a GPU's layers, on a GPU or on the CPU as if it were one. `recorder` may be nullptr: no graphs.
  NetDevice(const Device& device, bool placed, std::shared_ptr<cuda::GraphRecorder> recorder)
      : name_(device), device_(torch_device(device)), placed_(placed) {
    if (!placed) return;
    if (device.kind == Device::Kind::cuda) compute_exactly();
    copies_ = std::make_unique<nets::DeviceCopies>(device_);
    weights_ = std::make_shared<nets::PlacedWeights>(device_);
    if (!recorder) return;
    graphs_ = std::make_unique<nets::NetGraphs>(std::move(recorder), [](const std::string& why) {
      log::warn("a graph could not be recorded: these batches run without one", {{"error", why}});
    });
  }

  const Device& name() const { return name_; }
  at::Device device() const { return device_; }
  bool placed() const { return placed_; }
  nets::NetGraphs* graphs() const { return graphs_.get(); }
  nets::DeviceCopies& copies() const { return *copies_; }  // where the nets are placed

  nets::PlacedWeights& weights() const { return *weights_; }  // likewise

  // `format`: where the nets are placed.
  nets::Placement placement(Precision precision, WeightFormat format) const {
    const at::ScalarType type = nets::scalar_type(precision);
    if (!placed_) return type;
    nets::Placement place(type, device_);
    place.weights = format;
    place.kept = weights_;
    return place;
  }
  // Our memory where the nets are; on the CPU the tensor is that memory itself.
  at::Tensor tensor_of(const NdArray<float>& host) const {
    if (!placed_) return tensor(host);
    return copies_->to_device(host.shape, at::kFloat, [&](std::uint8_t* to) {
      std::memcpy(to, host.values.data(), host.values.size() * sizeof(float));
    });
  }

 private:
  Device name_;
  at::Device device_;
  bool placed_;
  std::unique_ptr<nets::DeviceCopies> copies_{};
  std::shared_ptr<nets::PlacedWeights> weights_{};
  std::unique_ptr<nets::NetGraphs> graphs_{};
};

}  // namespace navtalk
