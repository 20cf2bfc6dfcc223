#include "tools/demo/render/clothes.h"

namespace render {
namespace {

Lanes shoulders(Vec p) {
  static const Ellipsoid torso({0, -2.52f, -0.30f}, {1.26f, 1.12f, 0.60f});
  static const Ellipsoid arm({0.94f, -1.98f, -0.32f}, {0.46f, 0.46f, 0.44f});
  static const Capsule slope({0.16f, -1.28f, -0.34f}, {0.92f, -1.70f, -0.34f}, 0.20f, 0.27f);
  const Vec folded{root(p.x * p.x + 0.0025f), p.y, p.z};
  return join(join(distance(torso, p), distance(arm, folded), 0.35f), distance(slope, folded),
              0.30f);
}

// A ring around the neck that leans forward: distance from its axis circle's cylinder, and the
// height along its axis.
struct Ring {
  Lanes around, height;
};
Ring neck_ring(Vec p, float y) {
  static const Turn lean(0.24f);
  Lanes up = p.y - y, forward = p.z + 0.235f;
  lean.apply(up, forward);
  return {length(p.x, forward), up};
}

}  // namespace

Lanes sweater(Vec world, float breath, bool detail) {
  const Vec p{world.x, world.y - 0.018f * breath, world.z};
  const Ring ring = neck_ring(p, -1.20f);
  const Lanes collar = length(max(abs(ring.around - 0.375f) - 0.005f, 0.0f),
                              max(abs(ring.height + 0.05f) - 0.055f, 0.0f)) -
                       0.042f;
  Lanes d =
      join(shoulders(p), ring.around - (0.40f - 0.35f * min(ring.height + 0.05f, 0.0f)), 0.10f);
  d = intersect(d, ring.height + 0.02f, 0.05f);
  d = intersect(d, -max(ring.around - 0.335f, -ring.height - 0.25f), 0.03f);
  d = join(d, collar, 0.02f);
  if (detail) {
    const Lanes near = step(0.10f, 0.0f, d);
    d = d + near * 0.005f * sine(world.x * 62.0f) * step(-0.14f, -0.10f, ring.height);
  }
  return d * 0.9f;
}

Lanes shirt(Vec world, float breath, bool detail) { return sweater(world, breath, detail); }

}  // namespace render
