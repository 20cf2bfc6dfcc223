#include "tools/demo/render/head/glasses.h"

namespace render {
namespace {

constexpr Triple k_lens{0.285f, 0.030f, 0.745f};
constexpr float k_radius = 0.210f;
const Turn k_wrap(0.16f);  // lenses follow the face

// From the head's frame to a lens': x, y across it.
Vec on_lens(Vec folded) {
  Vec p = folded - k_lens;
  k_wrap.apply(p.x, p.z);
  return p;
}

// Between a circle and a square: the outline of the rims.
Lanes outline(Lanes x, Lanes y) {
  const Lanes x2 = x * x, y2 = y * y * 1.16f;
  return root(root(x2 * x2 + y2 * y2 + 0.9f * x2 * y2 + 1e-12f)) - k_radius;
}

}  // namespace

Lanes glasses(Vec folded) {
  static const Capsule bridge({-0.02f, 0.085f, 0.812f}, {0.085f, 0.070f, 0.785f}, 0.017f, 0.017f);
  static const Capsule temple({0.485f, 0.085f, 0.700f}, {0.715f, 0.070f, -0.10f}, 0.021f, 0.017f);
  const Vec p = on_lens(folded);
  const Lanes rim =
      length(max(abs(outline(p.x, p.y)) - 0.004f, 0.0f), max(abs(p.z) - 0.006f, 0.0f)) - 0.013f;
  return min(rim, min(distance(bridge, folded), distance(temple, folded)));
}

Lanes lens_gloss(Vec head, Vec towards_eye) {
  // Where the ray passed the lens' plane: close enough with the plane z of the lens.
  const Lanes t = (k_lens.z - head.z) / max(towards_eye.z, 0.2f);
  const Vec at = head + towards_eye * t;
  const Vec p = on_lens(folded(at));
  const Lanes inside = step(-0.012f, -0.020f, outline(p.x, p.y)) * step(0.0f, 0.01f, t);
  const Lanes across =
      0.8f * (at.x - select(at.x > 0.0f, all(k_lens.x), all(-k_lens.x))) + at.y - k_lens.y;
  const Lanes streaks = step(0.028f, 0.022f, abs(across - 0.155f)) +
                        0.7f * step(0.010f, 0.006f, abs(across - 0.205f));
  return inside * (0.05f + streaks);
}

}  // namespace render
