#include "tools/demo/render/mouth.h"

#include <algorithm>

namespace render {
namespace {

constexpr Triple k_jaw_hinge{0, -0.10f, -0.05f};
constexpr float k_jaw_turn = 0.19f;  // radians at jaw 1

}  // namespace

// The numbers are drawn by eye: what each column does to the curves.
Mouth::Mouth(const MouthShape& shape, const Row& row) : room_({}, {1, 1, 1}) {
  const float press = 0.7f * row.press;  // lips that vanish altogether look grim
  half_width_ = shape.half_width * (1 + 0.24f * row.wide - 0.42f * row.round + 0.12f * row.smile -
                                    0.06f * row.jaw * (1 - row.wide));
  upper_gap_ = 0.050f * row.jaw + 0.055f * row.upper + 0.014f * row.tuck - 0.006f * press - 0.002f;
  lower_gap_ = 0.185f * row.jaw + 0.050f * row.lower - 0.022f * row.tuck - 0.006f * press - 0.002f;
  rest_y_ = shape.y;
  middle_y_ = shape.y - 0.028f * row.jaw;
  corner_lift_ = 0.085f * row.smile * (1 - 0.75f * row.round) * (1 - 0.35f * row.jaw) + 0.004f;
  lip_z_ = shape.z;
  forward_ = 0.085f * row.round;
  upper_lip_ = shape.upper_lip *
               (1 - 0.45f * press + 0.10f * row.round - 0.10f * row.wide - 0.12f * row.upper);
  lower_lip_ = shape.lower_lip * (1 - 0.42f * press + 0.02f * row.round - 0.10f * row.wide -
                                  0.35f * row.tuck - 0.12f * row.jaw);
  upper_back_ = -0.028f * press;
  lower_back_ = -0.030f * press - 0.055f * row.tuck - 0.30f * std::max(lower_gap_, 0.0f);
  bow_ = shape.bow;
  roundness_ = std::clamp(row.round, 0.0f, 1.0f);
  profile_round_ = std::clamp(0.42f + 0.25f * row.jaw + 0.6f * row.round, 0.0f, 0.98f);
  jaw_cos_ = std::cos(k_jaw_turn * row.jaw);
  jaw_sin_ = std::sin(k_jaw_turn * row.jaw);
  tongue_up_ = row.tongue;
  const float gap = std::max(openness(), 0.0f);
  room_ = Ellipsoid({0, middle_y_ - 0.38f * gap, 0.42f}, {0.235f, 0.085f + 0.50f * gap, 0.235f});
}

Vec Mouth::to_jaw(Vec p) const {
  const Lanes y = p.y - k_jaw_hinge.y, z = p.z - k_jaw_hinge.z;
  return {p.x, jaw_cos_ * y + jaw_sin_ * z + k_jaw_hinge.y,
          jaw_cos_ * z - jaw_sin_ * y + k_jaw_hinge.z};
}

namespace {

// An elliptic tube around (0, 0), half axes ry and rz, that ends `past` beyond the corner.
Lanes tube(Lanes y, Lanes z, Lanes ry, Lanes rz, Lanes past) {
  const Lanes d = (length(y / ry, z / rz) - 1.0f) * min(ry, rz);
  return length(max(d, 0.0f), past) + min(d, 0.0f);
}

}  // namespace

Mouth::Lips Mouth::lips(Vec p) const {
  const Lanes s = p.x * (1 / half_width_), s2 = min(s * s, 1.0f), inside = 1.0f - s2;
  const Lanes profile = mix(inside, root(inside), all(profile_round_));
  const Lanes past = max(abs(p.x) - half_width_ * 1.04f, 0.0f);
  const Lanes middle = middle_y_ + corner_lift_ * s2;
  const Lanes upper_edge = middle + upper_gap_ * profile,
              lower_edge = middle - lower_gap_ * profile;
  // Lips grow thin towards a point a little beyond the corner.
  const Lanes along = max(1.0f - square(s * (1 / 1.10f)), 0.0f);
  const float thin = 0.10f + 0.22f * roundness_;
  const Lanes taper = thin + (1.0f - thin) * (0.5f * root(along) + 0.5f * along);
  const Lanes dip = bell(s * s * 42.0f), peaks = bell(square(abs(s) - 0.22f) * 42.0f);
  const Lanes z = p.z - (lip_z_ + forward_ * (0.35f + 0.65f * inside) -
                         0.70f * p.x * p.x * (1.0f + 0.9f * roundness_) - 0.022f * s2 * s2);
  const Lanes upper_ry = upper_lip_ * taper * (1.0f - 0.5f * bow_ * dip + bow_ * peaks);
  const Lanes lower_ry = lower_lip_ * taper;
  const Lanes upper =
      tube(p.y - upper_edge - upper_ry, z - upper_back_, upper_ry, 0.050f * taper, past);
  const Lanes lower = tube(p.y - lower_edge + lower_ry, z - lower_back_ * profile + 0.004f,
                           lower_ry, 0.056f * taper, past);
  const Lanes slit =
      (abs(p.y - 0.5f * (upper_edge + lower_edge)) - 0.5f * (upper_edge - lower_edge)) * 0.8f;
  return {join(upper, lower, 0.008f), max(max(slit, abs(p.x) - half_width_), 0.25f - p.z)};
}

namespace {

// A row of teeth on an arch around (0, 0.36): `y` is measured from the row's middle, gaps notch the
// edges.
Lanes tooth_row(Lanes x, Lanes y, Lanes z, float flat, float radius, float half_height,
                float width) {
  const Lanes depth = z - 0.36f;
  const Lanes wall = abs(length(x * flat, depth) - radius) - 0.020f;
  const Lanes notch = 0.005f * abs(sine(x * (3.14159265f / width)));
  return max(intersect(wall, abs(y) - half_height + 0.004f - notch, 0.012f), -depth) - 0.006f;
}

}  // namespace

Lanes Mouth::teeth(Vec p, Vec jaw) const {
  const Lanes upper = tooth_row(p.x, p.y - (rest_y_ + 0.046f), p.z, 1.15f, 0.245f, 0.070f, 0.066f);
  const Lanes lower =
      tooth_row(jaw.x, jaw.y - (rest_y_ - 0.105f), jaw.z, 1.18f, 0.220f, 0.055f, 0.052f);
  return min(upper, lower);
}

Lanes Mouth::tongue(Vec jaw) const {
  const float y = rest_y_ - 0.100f, lift = tongue_up_;
  const Ellipsoid body({0, y - 0.015f + 0.035f * lift, 0.36f}, {0.150f, 0.060f, 0.20f});
  const Ellipsoid tip({0, y + 0.015f + 0.085f * lift, 0.50f + 0.02f * lift},
                      {0.100f, 0.042f, 0.080f});
  const Lanes furrow = 0.010f * bell(jaw.x * jaw.x * 1000.0f);
  return join(distance(body, jaw), distance(tip, jaw), 0.08f) + furrow;
}

}  // namespace render
