// An avatar's frames for a device that puts faces into them (Model::pictures()), live and in videos.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "avatars/bundle/bundle.h"
#include "core/tensor/image.h"
#include "gpu/image/compose.h"
#include "gpu/model/placed_frame.h"

namespace navtalk {

// A device finishes pictures of avatars with even sides.
bool finishes_on_device(const AvatarInfo& info);

// In the avatar's size, the face as it is. nullopt: the frame has no face. `frame` gives its picture, BGR; it and the avatar are used by
// PlacedFrame::load().
std::optional<PlacedFrame> placed_frame(const Bundle& avatar, std::int64_t index,
                                        std::function<Image()> frame);

}  // namespace navtalk
