// One picture for a video encoder, in the host's memory or in that of the GPU that made it. Width and height are even. Values without
// locks.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <variant>

#include "core/tensor/i420_picture.h"

namespace navtalk {

struct DevicePicture {
  int width = 0, height = 0;  // pixels
  int gpu = 0;                // as CUDA counts the devices that this process sees
  // Complete, without gaps: NV12 as in Nv12View, in that GPU's memory, which is used again when the last holder lets go.
  std::shared_ptr<const std::uint8_t> nv12{};
  std::function<I420Picture()> copy{};  // in the host's memory
};

using VideoPicture = std::variant<I420Picture, DevicePicture>;

// The picture in the host's memory, to which one of a device is copied. Errors of DevicePicture::copy.
inline I420Picture on_host(VideoPicture picture) {
  if (const auto* device = std::get_if<DevicePicture>(&picture)) return device->copy();
  return std::get<I420Picture>(std::move(picture));
}

}  // namespace navtalk
