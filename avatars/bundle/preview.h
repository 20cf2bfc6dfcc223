// Pictures that show how an avatar's face is replaced. Stateless.
#pragma once

#include "avatars/bundle/bundle.h"
#include "core/tensor/image.h"

namespace navtalk {

// The first frame with a face, BGR: the mask as a tint (what is replaced), the seam as a yellow line
// (where the mask is a half), the face's box in green, and its landmarks, where it has them, as blue dots. Error{invalid} when no frame has a face.
Image preview(const Bundle& avatar);

// Up to twelve frames from the first to the last, evenly apart, as preview() draws them, each 320 pixels wide with its number;
// those without a face as they are. [H,W,3] BGR.
Image contact_sheet(const Bundle& avatar);

}  // namespace navtalk
