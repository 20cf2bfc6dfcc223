#include "avatars/bundle/device_frame.h"

#include <utility>
#include <vector>

#include "gpu/image/color.h"

namespace navtalk {
namespace {

FrameContent content(const Bundle& avatar, std::int64_t index, const Image& frame) {
  FrameContent content{.nv12 = std::vector<std::uint8_t>(yuv420_bytes(frame.width, frame.height)),
                       .latent = avatar.latent(index)};
  bgr_to_nv12(frame.view(), content.nv12.data());
  const ConstImageView mask = avatar.mask(index);
  for (int y = 0; y < mask.height; ++y)
    content.mask.insert(content.mask.end(), mask.row(y), mask.row(y) + mask.width);
  return content;
}

}  // namespace

bool finishes_on_device(const AvatarInfo& info) {
  return info.width % 2 == 0 && info.height % 2 == 0;
}

std::optional<PlacedFrame> placed_frame(const Bundle& avatar, std::int64_t index,
                                        std::function<Image()> frame) {
  const std::optional<AvatarFace>& face = avatar.face(index);
  if (!face) return std::nullopt;
  return PlacedFrame{.avatar = avatar.owner(),
                     .frame = index,
                     .width = avatar.info().width,
                     .height = avatar.info().height,
                     .placement = face->placement,
                     .mask_region = face->mask_region,
                     .load = [&avatar, index, frame = std::move(frame)] {
                       return content(avatar, index, frame());
                     }};
}

}  // namespace navtalk
