// A frame of an avatar's clip into which a generated face goes on the device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "core/tensor/ndarray.h"
#include "gpu/image/compose.h"

namespace navtalk {

// What the device keeps of a frame, in host memory.
struct FrameContent {
  std::vector<std::uint8_t> nv12{};  // width * height * 3 / 2 bytes
  std::vector<std::uint8_t> mask{};  // a byte a pixel of mask_region
  NdArray<float> latent{};           // [1,8,32,32]
};

struct PlacedFrame {
  std::weak_ptr<const void> avatar{};  // with `frame`, names the frame: two avatars share no owner
  std::int64_t frame = 0;
  int width = 0, height = 0;  // both even
  Placement placement{};
  Box mask_region{};  // in the crop box's coordinates
  // Called where the device does not hold the frame, on the calling thread.
  std::function<FrameContent()> load{};
};

// Frames of a device: NV12 in host memory, to which it was copied.
struct FinishedPicture {
  std::shared_ptr<const std::uint8_t>
      data{};  // its memory is used again when the last holder lets go
  std::size_t bytes = 0;

  std::span<const std::uint8_t> nv12() const { return {data.get(), bytes}; }
};

}  // namespace navtalk
