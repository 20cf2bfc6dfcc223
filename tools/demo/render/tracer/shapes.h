// Signed distances of basic shapes (negative inside, scene units) and ways to join them.
#pragma once

#include "tools/demo/render/tracer/vec.h"

namespace render {

inline constexpr float k_far = 9.0f;  // farther than anything from anywhere

struct Sphere {
  Triple centre;
  float radius;
};

inline Lanes distance(const Sphere& s, Vec p) { return length(p - s.centre) - s.radius; }

// Axis-aligned. The distance is the usual first-order one: exact on the surface, a little off
// elsewhere.
struct Ellipsoid {
  constexpr Ellipsoid(Triple c, Triple radii)
      : centre(c), inverse{1 / radii.x, 1 / radii.y, 1 / radii.z} {}
  Triple centre, inverse;
};

inline Lanes distance(const Ellipsoid& e, Vec p) {
  const Vec scaled = (p - e.centre) * e.inverse, steeper = scaled * e.inverse;
  const Lanes k = root(max(dot(scaled, scaled), 1e-12f));
  return k * (k - 1.0f) * inverse_root(max(dot(steeper, steeper), 1e-12f));
}

// A tapered rod with round ends.
struct Capsule {
  constexpr Capsule(Triple from, Triple to, float radius_from, float radius_to)
      : a(from),
        along{to.x - from.x, to.y - from.y, to.z - from.z},
        inverse(1.0f / (along.x * along.x + along.y * along.y + along.z * along.z)),
        radius(radius_from),
        growth(radius_to - radius_from) {}
  Triple a, along;
  float inverse, radius, growth;
};

inline Lanes distance(const Capsule& c, Vec p) {
  const Vec q = p - c.a;
  const Lanes t = unit(dot(q, c.along) * c.inverse);
  return length(q.x - t * c.along.x, q.y - t * c.along.y, q.z - t * c.along.z) -
         (c.radius + t * c.growth);
}

// Union and intersection whose seam is rounded over about `k`; subtraction is intersect(a, -b, k).
inline Lanes join(Lanes a, Lanes b, float k) {
  const Lanes h = max(k - abs(a - b), 0.0f);
  return min(a, b) - h * h * (0.25f / k);
}
inline Lanes intersect(Lanes a, Lanes b, float k) {
  const Lanes h = max(k - abs(a - b), 0.0f);
  return max(a, b) + h * h * (0.25f / k);
}

// A rotation about one axis, for shapes that do not lie along the axes.
struct Turn {
  explicit Turn(float radians) : c(std::cos(radians)), s(std::sin(radians)) {}
  float c, s;
  void apply(Lanes& u, Lanes& v) const {
    const Lanes t = c * u + s * v;
    v = c * v - s * u;
    u = t;
  }
};

}  // namespace render
