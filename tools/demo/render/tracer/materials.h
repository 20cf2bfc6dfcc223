// What a surface is like at a point.
#pragma once

#include "tools/demo/render/tracer/scene.h"

namespace render {

struct Material {
  Vec albedo;
  Lanes gloss, sharpness;  // strength and exponent of the highlight
  Lanes soft;              // 0 hard .. 1 light travels under the surface, as in skin
  Lanes fur;               // 1 hair: highlights across the strands
  Lanes inside;            // 1 within the mouth, where no rim of light comes
  Lanes glow;              // at least so much of the light arrives, whatever stands before it
  Mask eye;
};

// At a surface point, given in the world's and in the head's frame, whose distances are `parts`.
Material material_at(const Scene& scene, const Parts& parts, Vec world, Vec head);

}  // namespace render
