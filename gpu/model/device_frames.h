// Avatars' frames in device memory (NV12, mask, latent), those used last, and the launch that puts faces into them. One owner; several
// threads may call it at the same time. Only for sources that include ATen.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "gpu/device/least_recently_used.h"
#include "gpu/model/placed_frame.h"
#include "gpu/nets/device_copies.h"

namespace navtalk {

class DeviceFrames {
 public:
  // One frame on the device. Its tensors keep their memory while a batch uses them, also when the frame is dropped meanwhile.
  struct Resident {
    at::Tensor bytes;          // NV12, then the mask
    at::Tensor latent;         // [1,8,32,32] fp32
    std::ptrdiff_t mask_at{};  // of bytes
  };

  // Latents are kept on `unet`, the device of the UNet, everything else on `device`, the decoder's, whose copies these are; they outlive
  // it.
  DeviceFrames(at::Device device, at::Device unet, nets::DeviceCopies& copies,
               std::size_t budget_bytes)
      : device_(device), unet_(unet), copies_(copies), budget_(budget_bytes), kept_(budget_bytes) {}

  // How many bytes may stay on the device from now on; what is more is dropped, used longest ago first.
  void limit(std::size_t budget_bytes);
  // Drops all.
  void drop();

  // In their order; what the device lacks is loaded. Error{invalid} where a content's sizes do not fit its frame.
  std::vector<Resident> resident(std::span<const PlacedFrame> frames);

  // Face i into frame i: `faces` is the decoder's output in slices, [n,3,256,256] each, which together are as many as the frames.
  // Frames of one size are one launch, pictures of another size than theirs one more, and what does not stay is one copy to the
  // host. NV12, in the order of the frames.
  std::vector<FinishedPicture> paste(std::span<const PlacedFrame> frames,
                                     std::span<const Resident> residents,
                                     std::span<const at::Tensor> faces) const;

 private:
  struct Key {
    std::weak_ptr<const void> avatar;
    std::int64_t frame = 0;
  };
  struct Earlier {
    bool operator()(const Key& a, const Key& b) const {
      if (a.avatar.owner_before(b.avatar)) return true;
      return !b.avatar.owner_before(a.avatar) && a.frame < b.frame;
    }
  };

  Resident resident(const PlacedFrame& frame);

  const at::Device device_, unet_;
  nets::DeviceCopies& copies_;
  std::mutex mutex_;
  std::size_t budget_;
  LeastRecentlyUsed<Key, Resident, Earlier> kept_;
};

}  // namespace navtalk
