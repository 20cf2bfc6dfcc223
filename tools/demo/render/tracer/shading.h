// From a ray to a colour: march, find the material, light it.
#pragma once

#include "tools/demo/render/tracer/scene.h"

namespace render {

// A ray leaves the camera through the point (u, v) of the plane z = 0.

// How far the rays within `radius` of (u, v) can go at least before they meet anything.
Lanes free_way(const Scene& scene, Lanes u, Lanes v, float radius);

// Display colours 0 .. 1 of rays that are free as far as `start`.
Vec colour_at(const Scene& scene, Lanes u, Lanes v, Lanes start);

}  // namespace render
