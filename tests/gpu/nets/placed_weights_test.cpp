// Weights as a device keeps them, in its number format or in 8 bits, and on their way to host memory and back. The device is the CPU.
#include "gpu/nets/placed_weights.h"

#include <ATen/ATen.h>
#include <c10/core/Allocator.h>
#include <c10/core/InferenceMode.h>
#include <c10/util/Exception.h>

#include <catch2/catch.hpp>
#include <limits>

#include "gpu/nets/layers/stored_weight.h"

namespace navtalk::nets {
namespace {

Placement int8_place(at::ScalarType type, std::shared_ptr<PlacedWeights> kept = nullptr) {
  Placement place(type, at::kCPU);
  place.weights = WeightFormat::int8;
  place.kept = std::move(kept);
  return place;
}

// Channels of very different sizes, one of them all zeros.
at::Tensor uneven_weight(at::IntArrayRef rest) {
  std::vector<std::int64_t> shape{7};
  shape.insert(shape.end(), rest.begin(), rest.end());
  std::vector<std::int64_t> factor(shape.size(), 1);
  factor[0] = 7;
  const at::Tensor sizes =
      at::tensor({3.0F, 1.0F, 0.02F, 0.0F, 1e-3F, 3e-5F, 2e-6F}).reshape(factor);
  return (at::rand(shape) * 2 - 1) * sizes;
}

// The CPU's allocator with little left, for as long as it lives.
class FullDevice : public c10::Allocator {
 public:
  FullDevice() : all_(c10::GetAllocator(at::kCPU)) { c10::SetAllocator(at::kCPU, this, 1); }
  ~FullDevice() override { c10::SetAllocator(at::kCPU, all_, 1); }
  FullDevice(const FullDevice&) = delete;
  FullDevice& operator=(const FullDevice&) = delete;
  at::DataPtr allocate(std::size_t bytes) override {
    if (bytes > left) C10_THROW_ERROR(OutOfMemoryError, "the device is full");
    left -= bytes;
    return all_->allocate(bytes);
  }
  at::DeleterFnPtr raw_deleter() const override { return all_->raw_deleter(); }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    default_copy_data(to, from, bytes);
  }

  std::size_t left = std::numeric_limits<std::size_t>::max();

 private:
  c10::Allocator* const all_;
};

struct TwoWeights {
  PlacedWeights all{at::kCPU};
  at::Tensor one = all.add(at::arange(1000, at::kFloat));
  at::Tensor view = one.narrow(0, 100, 10);
  at::Tensor other = all.add(at::full({300}, 7, at::kChar));

  bool whole() const {
    return at::equal(one, at::arange(1000, at::kFloat)) && view[3].item<float>() == 103 &&
           at::equal(other, at::full({300}, 7, at::kChar));
  }
};

}  // namespace

TEST_CASE("no value of an int8 weight is further off than half a step of its channel") {
  const c10::InferenceMode inference;
  for (const at::ScalarType type : {at::kFloat, at::kHalf}) {
    CAPTURE(type);
    const at::Tensor weight = uneven_weight({700, 3, 3});
    const StoredWeight stored(weight, int8_place(type), at::MemoryFormat::ChannelsLast);
    const at::Tensor found = stored.get();
    CHECK(found.scalar_type() == type);
    CHECK(found.is_contiguous(at::MemoryFormat::ChannelsLast));
    const at::Tensor furthest = weight.abs().amax({1, 2, 3});
    const at::Tensor off = (found.to(at::kFloat) - weight).abs().amax({1, 2, 3});
    // Half a step, or of fp16's smallest ones; what fp16 rounds of the value is more.
    const at::Tensor allowed =
        furthest / 254 + furthest / 2048 + (type == at::kHalf ? 0x1p-25 : 1e-9);
    CAPTURE(off, allowed);
    CHECK(at::all(off <= allowed).item<bool>());
    CHECK(at::all(found[3] == 0).item<bool>());
  }
}

TEST_CASE("an int8 weight takes a byte a value and a factor a channel; a small one stays exact") {
  const c10::InferenceMode inference;
  const auto kept = std::make_shared<PlacedWeights>(at::kCPU);
  const Placement place = int8_place(at::kHalf, kept);
  const StoredWeight large(at::rand({8, 4096}), place, at::MemoryFormat::Contiguous);
  CHECK(kept->bytes() == 8 * 4096 + 8 * 2);
  const at::Tensor weight = at::rand({8, 4095});
  const StoredWeight small(weight, place, at::MemoryFormat::Contiguous);
  CHECK(at::equal(small.get(), weight.to(at::kHalf)));
  CHECK(kept->bytes() == 8 * 4096 + 8 * 2 + 8 * 4095 * 2);
  const at::Tensor before = large.get();
  kept->to_host();
  kept->to_device();
  CHECK(at::equal(large.get(), before));
}

TEST_CASE("weights leave the device's memory, and come back as they were") {
  const c10::InferenceMode inference;
  TwoWeights weights;
  weights.all.add(weights.view);  // its memory is known already
  CHECK(weights.all.bytes() == 1000 * 4 + 300);
  for (int i = 0; i < 2; ++i) {
    weights.all.to_host();
    CHECK(weights.all.on_host());
    CHECK(weights.all.bytes() == 1000 * 4 + 300);
    CHECK(weights.one.storage().nbytes() == 0);
    CHECK(weights.view.storage().data() == nullptr);
    CHECK(weights.other.storage().data() == nullptr);
    weights.all.to_host();  // done already
    weights.all.to_device();
    CHECK_FALSE(weights.all.on_host());
    CHECK(weights.whole());
  }
  weights.all.to_device();
  CHECK(weights.whole());
}

TEST_CASE("weights for which the device has no memory stay in host memory, all of them") {
  const c10::InferenceMode inference;
  TwoWeights weights;
  weights.all.to_host();
  {
    FullDevice device;
    device.left = 4100;  // for the first one
    CHECK_THROWS_AS(weights.all.to_device(), c10::OutOfMemoryError);
  }
  CHECK(weights.all.on_host());
  CHECK(weights.one.storage().data() == nullptr);
  weights.all.to_device();
  CHECK(weights.whole());
}

}  // namespace navtalk::nets
