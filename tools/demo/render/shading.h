// From a ray to a colour: march, find the material, light it.
#pragma once

#include "tools/demo/render/scene.h"

namespace render {

// Display colours 0 .. 1 of the rays through the points (u, v) of the plane z = 0.
Vec colour_at(const Scene& scene, Lanes u, Lanes v);

}  // namespace render
