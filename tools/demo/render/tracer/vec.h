// Points, directions and colours: three numbers for each ray of a packet, and the same as plain
// numbers.
#pragma once

#include <cmath>

#include "tools/demo/render/tracer/lanes.h"

namespace render {

// Plain numbers: what a character's description is made of.
struct Triple {
  float x = 0, y = 0, z = 0;
};

inline Triple operator*(Triple a, float s) { return {a.x * s, a.y * s, a.z * s}; }
inline Triple normalized(Triple a) {
  return a * (1.0f / std::sqrt(a.x * a.x + a.y * a.y + a.z * a.z));
}

struct Vec {
  Lanes x, y, z;
};

inline Vec vec(Triple t) { return {all(t.x), all(t.y), all(t.z)}; }
inline Vec operator+(Vec a, Vec b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
inline Vec operator*(Vec a, Vec b) { return {a.x * b.x, a.y * b.y, a.z * b.z}; }
inline Vec operator*(Vec a, Lanes s) { return {a.x * s, a.y * s, a.z * s}; }
inline Vec operator*(Vec a, float s) { return {a.x * s, a.y * s, a.z * s}; }
inline Vec operator+(Vec a, Triple b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
inline Vec operator-(Vec a, Triple b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
inline Vec operator*(Vec a, Triple b) { return {a.x * b.x, a.y * b.y, a.z * b.z}; }
inline Lanes dot(Vec a, Vec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
inline Lanes dot(Vec a, Triple b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
inline Vec cross(Vec a, Vec b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
inline Lanes length(Vec a) { return length(a.x, a.y, a.z); }
inline Vec normalized(Vec a) { return a * inverse_root(max(dot(a, a), 1e-12f)); }
inline Vec mix(Vec a, Vec b, Lanes t) {
  return {mix(a.x, b.x, t), mix(a.y, b.y, t), mix(a.z, b.z, t)};
}
inline Vec mix(Vec a, Triple b, Lanes t) { return mix(a, vec(b), t); }
inline Vec mix(Triple a, Triple b, Lanes t) { return mix(vec(a), vec(b), t); }
inline Vec select(Mask m, Vec yes, Vec no) {
  return {select(m, yes.x, no.x), select(m, yes.y, no.y), select(m, yes.z, no.z)};
}
// The point mirrored to the side x >= 0.
inline Vec folded(Vec p) { return {abs(p.x), p.y, p.z}; }

}  // namespace render
