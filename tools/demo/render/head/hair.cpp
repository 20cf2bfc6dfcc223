#include "tools/demo/render/head/hair.h"

namespace render {
namespace {

// Height of the side-parted fringe's edge over the forehead; the parting is at x = -0.2.
Lanes fringe_edge(Lanes x) {
  const Lanes u = x + 0.20f, around = root(u * u + 0.006f);
  const Lanes right = 0.5f * (around + u), left = 0.5f * (around - u);
  return 0.67f - right * (0.20f + 0.44f * right) - left * (0.36f + 1.5f * left);
}

// 1 on the backs of locks, 0 in the narrow valleys between them.
Lanes locks(Lanes strand, float frequency, float phase) {
  return root(square(sine(strand * frequency + phase)) + 0.02f);
}

// A lock that hangs before each ear.
Lanes side_lock(Vec p) {
  static const Ellipsoid lock({0.665f, 0.03f, 0.18f}, {0.085f, 0.42f, 0.160f});
  const Lanes bend = 0.30f * square(min(p.y - 0.10f, 0.0f));
  return distance(lock, Vec{abs(p.x) + bend, p.y, p.z + 0.5f * bend});
}

}  // namespace

HairSurface hair_bob(Vec p, bool detail) {
  static const Ellipsoid crown({0, 0.325f, -0.15f}, {0.800f, 0.82f, 0.85f});
  static const Ellipsoid front({0.01f, 0.345f, -0.09f}, {0.785f, 0.82f, 0.83f});
  static const Ellipsoid back({0, -0.16f, -0.40f}, {0.85f, 0.84f, 0.50f});
  const Lanes ax = abs(p.x);
  const Lanes above = p.y - fringe_edge(p.x);
  const Lanes behind = (p.z - 0.10f) * 0.80f - (p.y - 0.42f) * 0.62f + 0.10f * ax * ax - 0.02f;
  const Lanes cap = intersect(distance(crown, p), behind, 0.06f);
  const Lanes bob = intersect(distance(back, p), 0.10f * ax - p.y - 0.86f, 0.24f);
  const Lanes fringe = intersect(distance(front, p), above * -0.72f, 0.12f);
  const Lanes d = join(join(join(cap, bob, 0.15f), fringe, 0.10f), side_lock(p), 0.12f);
  HairSurface result{d, {}};
  if (detail && any(d < 0.12f)) {
    const Lanes warp =
        sine(p.x * 3.1f + p.y * 2.3f) + 0.6f * sine(p.x * 6.3f - p.y * 3.1f + p.z * 3.0f);
    result.strand = max(above, -0.10f) * 0.95f - p.z * 1.25f + warp * 0.035f;
    const Lanes near = step(0.12f, 0.0f, d);
    result.distance = d - near * (0.020f * locks(result.strand, 8.0f, 0.3f) +
                                  0.006f * locks(result.strand, 21.0f, 1.1f) - 0.014f);
  }
  result.distance = result.distance * 0.8f;
  return result;
}

namespace {

// A surface of tangled rounds: about -1.5 .. 1.5.
Lanes tangle(Vec p) {
  return sine(p.x) * sine(p.y + 1.5708f) + sine(p.y) * sine(p.z + 1.5708f) +
         sine(p.z) * sine(p.x + 1.5708f);
}

}  // namespace

HairSurface hair_curls(Vec p, bool detail) {
  static const Ellipsoid top({0, 0.37f, -0.12f}, {0.735f, 0.78f, 0.82f});
  static const Ellipsoid sides({0, 0.25f, -0.13f}, {0.735f, 0.76f, 0.80f});
  const Lanes ax = abs(p.x);
  const Lanes above = p.y - (0.565f - 0.30f * square(square(ax * 1.25f)));
  const Lanes behind = (p.z - 0.13f) * 0.80f - (p.y - 0.33f) * 0.62f - 0.02f;
  const Lanes short_sides = intersect(distance(sides, p), max(behind, -0.42f - p.y), 0.05f);
  const Lanes crown = intersect(distance(top, p), above * -0.75f, 0.10f);
  HairSurface result{join(short_sides, crown, 0.12f), {}};
  if (detail && any(result.distance < 0.15f)) {
    const Vec warped =
        p * 19.0f + Vec{sine(p.y * 7.0f), sine(p.z * 8.0f + 1.0f), sine(p.x * 7.5f + 2.0f)} * 1.1f;
    const Lanes curl = tangle(warped);
    const Lanes high = step(0.20f, 0.55f, p.y);
    const Lanes near = step(0.15f, 0.0f, result.distance);
    result.strand = curl * 0.02f;
    result.distance = result.distance - near * curl * (0.006f + 0.022f * high);
  }
  result.distance = result.distance * 0.72f;
  return result;
}

}  // namespace render
