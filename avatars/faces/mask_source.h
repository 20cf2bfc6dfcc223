// Where the masks of a clip come from. One source serves a whole clip.
#pragma once

#include <string>

#include "avatars/faces/mask.h"
#include "core/tensor/image.h"

namespace navtalk {

class MaskSource {
 public:
  virtual ~MaskSource() = default;
  // What avatar.json calls it.
  virtual std::string name() const = 0;
  // What the masks depend on besides the pictures and boxes: the same text gives the same masks.
  virtual std::string identity() const = 0;
  // The mask of the face in `box` of this frame; nothing of it where no part of a face is seen. The box must be
  // at least 8x8 and lie inside the frame. Error{failed}.
  virtual FaceMask mask(ConstImageView frame, const Box& box) = 0;
};

}  // namespace navtalk
