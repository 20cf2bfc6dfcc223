#include "tools/demo/render/head/mouth.h"

#include <algorithm>

namespace render {
namespace {

constexpr Triple k_jaw_hinge{0, -0.10f, -0.05f};
constexpr float k_least_gap = 0.001f;
constexpr float k_jaw_turn = 0.19f;  // radians at jaw 1

}  // namespace

// The numbers are drawn by eye: what each column does to the curves.
Mouth::Mouth(const MouthShape& shape, const Row& row) : rest_y_(shape.y), room_({}, {1, 1, 1}) {
  const float press = 0.7f * row.press;  // lips that vanish altogether look grim
  set_gaps(row, press);
  half_width_ = shape.half_width * (1 + 0.24f * row.wide - 0.45f * row.round + 0.12f * row.smile -
                                    0.06f * row.jaw * (1 - row.wide));
  corner_lift_ = 0.125f * row.smile * (1 - 0.75f * row.round) * (1 - 0.35f * row.jaw) + 0.002f;
  lip_z_ = shape.z;
  forward_ = 0.085f * row.round;
  upper_lip_ = shape.upper_lip *
               (1 - 0.45f * press + 0.10f * row.round - 0.10f * row.wide - 0.12f * row.upper);
  lower_lip_ = shape.lower_lip * (1 - 0.42f * press + 0.02f * row.round - 0.10f * row.wide -
                                  0.35f * row.tuck - 0.12f * row.jaw);
  upper_back_ = -0.028f * press;
  lower_back_ = -0.030f * press - 0.055f * row.tuck - 0.30f * std::max(lower_gap_, 0.0f);
  bow_ = shape.bow * (1 - 0.5f * row.round);
  roundness_ = std::clamp(row.round, 0.0f, 1.0f);
  corner_ = 0.12f + 0.10f * roundness_ + 0.06f * row.jaw;
  reach_ = 1.0f + 0.26f * std::clamp(1.2f * row.round + 0.8f * row.jaw, 0.0f, 1.0f);
  profile_round_ = std::clamp(0.40f + 0.40f * row.jaw + 0.6f * row.round, 0.0f, 0.98f);
  jaw_cos_ = std::cos(k_jaw_turn * row.jaw);
  jaw_sin_ = std::sin(k_jaw_turn * row.jaw);
  tongue_up_ = row.tongue;
  const float gap = upper_gap_ + lower_gap_;
  room_ = Ellipsoid({0, middle_y_ - 0.38f * gap, 0.42f}, {0.235f, 0.085f + 0.50f * gap, 0.235f});
}

void Mouth::set_gaps(const Row& row, float press) {
  const float parting = std::clamp(6 * row.jaw, 0.0f, 1.0f);
  // Rounded lips that part at all part into a ring; a raised tongue needs room to be seen.
  const float ring = row.round * parting * (1 - press);
  const float upper = 0.066f * row.jaw + 0.055f * row.upper + 0.014f * row.tuck - 0.006f * press +
                      0.022f * ring - 0.005f;
  const float lower = 0.170f * row.jaw + 0.050f * row.lower - 0.022f * row.tuck - 0.006f * press +
                      0.026f * ring + 0.034f * row.tongue * parting - 0.005f;
  // A lip beyond the middle takes the middle along; lips beyond each other press.
  const float total = upper + lower;
  const float aside = total > 0 ? std::max(-lower, 0.0f) - std::max(-upper, 0.0f) : 0.0f;
  overlap_ = std::max(-0.5f * total, 0.0f);
  upper_gap_ = std::max(upper - aside, k_least_gap);
  lower_gap_ = std::max(lower + aside, k_least_gap);
  middle_y_ = aside + rest_y_ - 0.042f * row.jaw - 0.012f * row.round;
}

Vec Mouth::to_jaw(Vec p) const {
  const Lanes y = p.y - k_jaw_hinge.y, z = p.z - k_jaw_hinge.z;
  return {p.x, jaw_cos_ * y + jaw_sin_ * z + k_jaw_hinge.y,
          jaw_cos_ * z - jaw_sin_ * y + k_jaw_hinge.z};
}

// The lips are one closed tube around the opening's outline, so that they stay whole at the corners
// of any mouth. The outline is two half ellipses, upper and lower, drawn pointed or round; a closed
// mouth is a very flat one.
Mouth::Lips Mouth::lips(Vec p) const {
  const Lanes s = p.x * (1 / half_width_), s2 = min(s * s, 1.0f), inside = 1.0f - s2;
  const Lanes y = p.y - (middle_y_ + corner_lift_ * s2);
  const Lanes up = step(-0.008f, 0.008f, y);
  const Lanes round = profile_round_ + (1.0f - profile_round_) * root(inside + 0.004f);
  const Lanes half_height = mix(all(lower_gap_), all(upper_gap_), up) * round;
  const Lanes v = y / half_height;
  const Lanes k = root(s * s + v * v + 1e-12f);
  const Lanes round_the_ellipse =
      k * (k - 1.0f) *
      inverse_root(square(s * (1 / half_width_)) + square(v / half_height) + 1e-12f);
  // Beside a very flat ellipse the formula gives too little.
  const Lanes outside = intersect(round_the_ellipse, abs(p.x) - half_width_, 0.012f) + overlap_;

  // Thick in the middle, thin at the corners; the upper lip has its bow.
  const Lanes along = max(1.0f - square(s * (1 / reach_)), 0.0f);
  const Lanes taper = corner_ + (1.0f - corner_) * along * (1.6f - 0.6f * along);
  const Lanes bow = bow_ * (bell(square(abs(s) - 0.25f) * 30.0f) - 0.5f * bell(s * s * 30.0f));
  const Lanes thick = taper * mix(all(lower_lip_), upper_lip_ * (1.0f + bow), up);
  const Lanes deep = taper * mix(all(0.056f), all(0.050f), up);
  const Lanes z = p.z - (lip_z_ + forward_ * (0.35f + 0.65f * inside * inside) -
                         0.70f * p.x * p.x * (1.0f + 0.9f * roundness_) - 0.022f * s2 * s2);
  const Lanes tucked =
      mix(lower_back_ * (1.0f - square(1.0f - inside)) - 0.004f, all(upper_back_), up);
  const Lanes tube =
      (length((outside - thick) / thick, (z - tucked) / deep) - 1.0f) * min(thick, deep);
  return {tube, max(outside * 0.8f, 0.25f - p.z), -z};
}

namespace {

// A row of teeth on an arch around (0, 0.36): `y` is measured from the row's middle, gaps notch the
// edges.
Lanes tooth_row(Lanes x, Lanes y, Lanes z, float flat, float radius, float half_height,
                float width) {
  const Lanes depth = z - 0.36f;
  const Lanes wall = abs(length(x * flat, depth) - radius) - 0.020f;
  const Lanes notch = 0.0035f * abs(sine(x * (3.14159265f / width)));
  return max(intersect(wall, abs(y) - half_height + 0.004f - notch, 0.012f), -depth) - 0.006f;
}

}  // namespace

Lanes Mouth::teeth(Vec p, Vec jaw) const {
  const Lanes upper = tooth_row(p.x, p.y - (rest_y_ + 0.046f), p.z, 0.93f, 0.245f, 0.070f, 0.066f);
  const Lanes lower =
      tooth_row(jaw.x, jaw.y - (rest_y_ - 0.118f), jaw.z, 1.00f, 0.220f, 0.055f, 0.052f);
  return min(upper, lower);
}

Lanes Mouth::tongue(Vec jaw) const {
  const float y = rest_y_ - 0.100f, lift = tongue_up_;
  const Ellipsoid body({0, y - 0.015f + 0.035f * lift, 0.36f}, {0.150f, 0.060f, 0.20f});
  const Ellipsoid tip({0, y + 0.015f + 0.042f * lift, 0.50f + 0.065f * lift},
                      {0.100f, 0.040f, 0.080f});
  const Lanes furrow = 0.010f * bell(jaw.x * jaw.x * 1000.0f);
  return join(distance(body, jaw), distance(tip, jaw), 0.08f) + furrow;
}

}  // namespace render
