// A picture of a scene: packets of rays, and more rays where the picture has edges.
#pragma once

#include <cstdint>
#include <vector>

#include "tools/demo/render/tracer/scene.h"

namespace render {

// RGB, `size` x `size` pixels, rows from the top. `size` is a multiple of 4. The same for any
// number of threads.
std::vector<std::uint8_t> render_frame(const Scene& scene, View view, int size, int threads);

}  // namespace render
