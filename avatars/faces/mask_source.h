// Where the masks of a clip come from. One source serves a whole clip.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "avatars/faces/mask.h"
#include "core/tensor/image.h"

namespace navtalk {

struct FaceInFrame {
  ConstImageView frame;
  Box box;
};

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
  // How many faces are best given to masks() at once. Part of identity() where it changes masks.
  virtual std::size_t batch() const { return 1; }
  // The masks of several faces, each as mask() gives it to within rounding of what networks compute.
  virtual std::vector<FaceMask> masks(std::span<const FaceInFrame> faces) {
    std::vector<FaceMask> masks;
    for (const FaceInFrame& face : faces) masks.push_back(mask(face.frame, face.box));
    return masks;
  }
};

}  // namespace navtalk
