// A picture of a face with its eyes closed further than they are: lids are painted in the colours of the skin around the eye,
// with a line of lashes at their edge. Hair that hangs over an eye stays in front of them.
#pragma once

#include "avatars/faces/eyes.h"
#include "core/tensor/image.h"

namespace navtalk {

// `closed`: how much of the opening the upper lids cover, 0 (nothing changes) to 1. `still`: [H,W,3] BGR, as find_eyes() saw it.
Image close_eyes(const Image& still, const Eyes& eyes, double closed);

}  // namespace navtalk
