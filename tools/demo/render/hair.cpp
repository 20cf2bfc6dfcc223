#include "tools/demo/render/hair.h"

namespace render {
namespace {

// Where the side-parted fringe ends above the forehead: positive on the face's side.
Lanes fringe_edge(Vec p) {
  const Lanes u = p.x + 0.20f;  // from the parting
  const Lanes right = max(u, 0.0f), left = max(-u, 0.0f);
  const Lanes edge = 0.69f - right * (0.22f + 0.42f * right) - left * (0.40f + 1.7f * left);
  return (edge - p.y) * 0.72f;
}

}  // namespace

HairSurface hair_bob(Vec p, bool detail) {
  static const Ellipsoid crown({0, 0.335f, -0.155f}, {0.800f, 0.845f, 0.875f});
  static const Ellipsoid front({0.02f, 0.36f, -0.08f}, {0.79f, 0.835f, 0.90f});
  static const Ellipsoid back({0, -0.10f, -0.42f}, {0.82f, 0.88f, 0.48f});
  const Lanes ax = abs(p.x);
  const Lanes behind = (p.z - 0.10f) * 0.80f - (p.y - 0.42f) * 0.62f + 0.10f * ax * ax - 0.02f;
  const Lanes cap = intersect(distance(crown, p), behind, 0.06f);
  const Lanes bob = intersect(distance(back, p), 0.10f * ax - p.y - 0.90f, 0.16f);
  const Lanes fringe = intersect(distance(front, p), fringe_edge(p), 0.13f);
  Lanes d = join(join(cap, bob, 0.15f), fringe, 0.10f);
  HairSurface result;
  const Lanes warp =
      0.05f * sine(p.x * 3.1f + p.y * 2.3f) + 0.03f * sine(p.x * 7.3f - p.y * 4.1f + p.z * 3.0f);
  result.strand =
      p.z * inverse_root(max(p.x * p.x + p.z * p.z, 0.02f)) * 1.6f - fringe_edge(p) * 1.3f + warp;
  if (detail) {
    const Lanes near = step(0.12f, 0.0f, d);
    d = d + near * (0.0085f * sine(result.strand * 15.0f) +
                    0.003f * sine(result.strand * 38.0f + 1.3f));
  }
  result.distance = d * 0.8f;
  return result;
}

HairSurface hair_curls(Vec p, bool detail) { return hair_bob(p, detail); }

}  // namespace render
