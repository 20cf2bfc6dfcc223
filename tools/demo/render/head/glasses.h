// Round glasses, in the head's frame.
#pragma once

#include "tools/demo/render/tracer/shapes.h"

namespace render {

// Distance of the frame; `folded` has x >= 0.
Lanes glasses(Vec folded);

// How much of a lens' gloss the ray from `head` along `direction` (head's frame, camera outwards)
// sees: 0 .. 1.
Lanes lens_gloss(Vec head, Vec towards_eye);

}  // namespace render
