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

// Pasting and scaling together are within two levels of compose() and resize(), one each; a lone one within one.
struct PlacedFrame {
  std::weak_ptr<const void> avatar{};  // with `frame`, names the frame: two avatars share no owner
  std::int64_t frame = 0;
  int width = 0, height = 0;  // both even
  Placement placement{};
  Box mask_region{};  // in the crop box's coordinates
  FaceFinish finish{};
  float lips = 1;                         // how much of the face is seen, above 0, to 1
  int shown_width = 0, shown_height = 0;  // of the finished picture, both even; 0: the frame's
  bool stays = false;                     // the finished picture stays on the device

  int picture_width() const { return shown_width > 0 ? shown_width : width; }
  int picture_height() const { return shown_height > 0 ? shown_height : height; }
  // Called where the device does not hold the frame, on the calling thread.
  std::function<FrameContent()> load{};
};

// NV12 that a device has made, in host memory, to which it was copied, or where it was made.
struct FinishedPicture {
  std::shared_ptr<const std::uint8_t>
      data{};  // its memory is used again when the last holder lets go
  std::size_t bytes = 0;
  // Of a picture that stays on the device: a copy of its bytes in host memory. Errors as those of Model::pictures().
  std::function<std::shared_ptr<const std::uint8_t>()> copy{};

  bool on_device() const { return copy != nullptr; }
  // Of one in host memory.
  std::span<const std::uint8_t> nv12() const { return {data.get(), bytes}; }
};

}  // namespace navtalk
