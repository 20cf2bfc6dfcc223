#include "tools/demo/render/head/clothes.h"

namespace render {
namespace {

Lanes shoulders(const BodyShape& body, Vec p) {
  // A hint of softness in the middle, which abs() would crease.
  const Vec folded{root(p.x * p.x + 0.0025f), p.y, p.z};
  return join(join(distance(body.torso, p), distance(body.arm, folded), 0.35f),
              distance(body.slope, folded), 0.26f);
}

// Cylinder coordinates about the neck, which leans forward.
struct Ring {
  Lanes radius, height, x, z;
};

Ring neck_ring(Vec p, float y) {
  static const Turn lean(0.24f);
  Lanes up = p.y - y, forward = p.z + 0.225f;
  lean.apply(up, forward);
  return {length(p.x, forward), up, p.x, forward};
}

}  // namespace

// A knitted jumper with a rolled collar.
Garment sweater(const BodyShape& body, Vec world, float breath, bool detail) {
  const Vec p{world.x, world.y - 0.018f * breath, world.z};
  const Ring ring = neck_ring(p, body.collar_y);
  const float r = body.collar_radius;
  const Lanes roll =
      length(max(abs(ring.radius - (r + 0.012f + 0.06f * abs(ring.height + 0.06f))) - 0.004f, 0.0f),
             max(abs(ring.height + 0.055f) - 0.060f, 0.0f)) -
      0.040f;
  Lanes d = join(shoulders(body, p),
                 ring.radius - (r + 0.02f - 0.45f * min(ring.height + 0.05f, 0.0f)), 0.10f);
  d = intersect(d, ring.height + 0.06f, 0.05f);
  d = intersect(d, -max(ring.radius - (r - 0.03f), -ring.height - 0.30f), 0.03f);
  d = join(d, roll, 0.018f);
  if (detail) {
    const Lanes near = step(0.10f, 0.0f, d);
    const Lanes ribs = sine(angle(ring.x, ring.z) * 34.0f) * step(-0.17f, -0.13f, ring.height) *
                       step(r + 0.13f, r + 0.09f, ring.radius);
    d = d + near * 0.0045f * ribs;
  }
  return {d * 0.9f, all(k_far)};
}

// A round-necked jumper with a shirt's collar folded over its edge.
Garment shirt(const BodyShape& body, Vec world, float breath) {
  const Vec p{world.x, world.y - 0.018f * breath, world.z};
  const Ring ring = neck_ring(p, body.collar_y);
  const float r = body.collar_radius;
  // Two wings that fall open from the throat and end in points.
  const Lanes slant = ring.radius - (r + 0.02f - 0.55f * (ring.height + 0.02f));
  const Lanes wing_end = -0.10f - 0.16f * step(0.2f, 0.9f, ring.z * (1 / r)) - ring.height;
  const Lanes throat = (0.02f - 0.60f * ring.height - abs(ring.x)) * 0.8f;
  Lanes collar =
      intersect(abs(slant) * 0.88f - 0.012f, max(wing_end, ring.height - 0.035f) * 0.8f, 0.02f);
  collar = intersect(collar, max(throat, -ring.z - 0.5f), 0.02f) - 0.008f;

  Lanes d = join(shoulders(body, p),
                 ring.radius - (r + 0.03f - 0.50f * min(ring.height + 0.16f, 0.0f)), 0.12f);
  d = intersect(d, ring.height + 0.17f, 0.06f);
  d = intersect(d, -max(ring.radius - (r - 0.01f), -ring.height - 0.36f), 0.03f);
  const Lanes band = length(ring.radius - (r + 0.045f), ring.height + 0.185f) - 0.036f;
  d = join(d, band, 0.012f);
  return {d * 0.85f, collar * 0.8f};
}

}  // namespace render
