// What is waited for before a picture is handed to an encoder, whose stream waits for no other: on a device of the test's own making, which
// notes what of its memory each event has behind it. The emulation runs the kernels.
#include <ATen/ATen.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <torch/library.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "gpu/image/color.h"
#include "gpu/model/device_frames.h"
#include "gpu/nets/device_copies.h"

using namespace navtalk;

namespace {

constexpr int k_side = 64;
constexpr c10::DeviceType k_made = c10::DeviceType::PrivateUse1;
constexpr c10::StreamId k_computing = 7, k_copying = 8;

// Of one device, whose memory is the host's.
struct Noted {
  struct Event {
    c10::StreamId stream = 0;
    std::vector<std::uint8_t> behind{};  // the block that was made last, when it was recorded
    bool waited = false;                 // by the host
  };
  std::deque<Event> events{};
  std::uint8_t* block = nullptr;
  std::size_t bytes = 0;
};
Noted& noted() {
  static Noted one;
  return one;
}

c10::Device made_device() { return {k_made, 0}; }
c10::Stream stream(c10::StreamId id) { return c10::Stream(c10::Stream::UNSAFE, made_device(), id); }

struct MadeDevice : c10::impl::DeviceGuardImplInterface {
  c10::DeviceType type() const override { return k_made; }
  c10::Device exchangeDevice(c10::Device) const override { return made_device(); }
  c10::Device getDevice() const override { return made_device(); }
  void setDevice(c10::Device) const override {}
  void uncheckedSetDevice(c10::Device) const noexcept override {}
  c10::DeviceIndex deviceCount() const noexcept override { return 1; }
  c10::Stream getStream(c10::Device) const override { return stream(k_computing); }
  c10::Stream getStreamFromGlobalPool(c10::Device, bool) const override {
    return stream(k_copying);
  }
  c10::Stream exchangeStream(c10::Stream) const override { return stream(k_computing); }
  void* getStreamNativeHandle(c10::Stream) const override { return nullptr; }
  void record(void** event, const c10::Stream& recorded, c10::DeviceIndex,
              c10::EventFlag) const override {
    Noted& all = noted();
    all.events.push_back({.stream = recorded.id(), .behind = {all.block, all.block + all.bytes}});
    *event = &all.events.back();
  }
  void synchronizeEvent(void* event) const override {
    static_cast<Noted::Event*>(event)->waited = true;
  }
  bool queryEvent(void*) const override { return false; }
};

at::Tensor on_made_device(at::IntArrayRef sizes, at::IntArrayRef strides, at::ScalarType type,
                          std::size_t bytes) {
  auto* const block = new std::uint8_t[std::max<std::size_t>(bytes, 1)]();
  if (bytes > 0) {
    noted().block = block;
    noted().bytes = bytes;
  }
  return at::for_blob(block, sizes)
      .strides(strides)
      .deleter([block](void*) { delete[] block; })
      .options(at::TensorOptions().dtype(type).device(made_device()))
      .target_device(made_device())
      .make_tensor();
}

at::Tensor empty_bytes(at::IntArrayRef sizes, std::optional<at::ScalarType> type,
                       std::optional<at::Layout>, std::optional<at::Device>, std::optional<bool>,
                       std::optional<at::MemoryFormat>) {
  REQUIRE(type == at::kByte);
  REQUIRE(sizes.size() == 1);
  return on_made_device(sizes, {1}, at::kByte, static_cast<std::size_t>(sizes[0]));
}

// A white face, pixel after pixel, as the decoder gives it.
at::Tensor white_face() {
  constexpr std::int64_t k_values = std::int64_t{256} * 256 * 3;
  const at::Tensor face = on_made_device({1, 3, 256, 256}, {k_values, 1, std::int64_t{256} * 3, 3},
                                         at::kFloat, k_values * sizeof(float));
  std::fill_n(static_cast<float*>(face.mutable_data_ptr()), k_values, 1.0F);
  return face;
}

}  // namespace

C10_REGISTER_GUARD_IMPL(PrivateUse1, MadeDevice)
TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) { library.impl("empty.memory_format", empty_bytes); }

TEST_CASE("a picture that stays on the device is whole before anybody is told of it") {
  nets::DeviceCopies copies(made_device());
  const DeviceFrames frames(made_device(), made_device(), copies, 0);
  const Box box{8, 8, 56, 56};
  const PlacedFrame frame{.width = k_side,
                          .height = k_side,
                          .placement = {.box = box, .crop_box = box},
                          .mask_region = {0, 0, 48, 48},
                          .stays = true};
  const std::size_t picture = yuv420_bytes(k_side, k_side), mask = std::size_t{48} * 48;
  const at::Tensor bytes =
      on_made_device({static_cast<std::int64_t>(picture + mask)}, {1}, at::kByte, picture + mask);
  std::memset(bytes.mutable_data_ptr(), 128, picture);
  std::memset(static_cast<std::uint8_t*>(bytes.mutable_data_ptr()) + picture, 255, mask);
  const DeviceFrames::Resident resident{
      .bytes = bytes, .latent = {}, .mask_at = static_cast<std::ptrdiff_t>(picture)};
  const at::Tensor face = white_face();
  noted().events.clear();
  const auto made = frames.paste({&frame, 1}, {&resident, 1}, {&face, 1});
  REQUIRE(made.size() == 1);
  REQUIRE(made[0].on_device());
  const std::vector<std::uint8_t> whole(made[0].data.get(), made[0].data.get() + made[0].bytes);
  REQUIRE(whole.at(32 * k_side + 32) == 235);  // white: the kernel has run
  REQUIRE(noted().block == made[0].data.get());
  CHECK(std::ranges::any_of(noted().events, [&](const Noted::Event& event) {
    return event.stream == k_computing && event.waited && event.behind == whole;
  }));
}
