#include "tools/demo/render/head/eyes.h"

#include <algorithm>

namespace render {
namespace {

constexpr float k_reach = 0.42f;  // how far an eye turns, as a sine

// The lids show more of the eye's outer half; pupils a little outwards look straight.
constexpr float k_outward = 0.07f;

// The pupil's place on the eyeball when it looks into the camera, then `x`, `y` radians aside.
Triple gaze(Triple eye, float outward, const Row& row, const Placement& placement) {
  Triple world{placement.pivot.x, placement.pivot.y, placement.pivot.z};
  const float at[3] = {eye.x - Placement::k_neck.x, eye.y - Placement::k_neck.y,
                       eye.z - Placement::k_neck.z};
  for (int i = 0; i < 3; ++i) {
    world.x += placement.columns[i].x * at[i];
    world.y += placement.columns[i].y * at[i];
    world.z += placement.columns[i].z * at[i];
  }
  const Triple to = normalized({k_camera.x - world.x, k_camera.y - world.y, k_camera.z - world.z});
  const auto along = [&](Triple axis) { return axis.x * to.x + axis.y * to.y + axis.z * to.z; };
  const float x = std::clamp(along(placement.columns[0]) + row.gaze_x + outward, -k_reach, k_reach);
  const float y =
      std::clamp(along(placement.columns[1]) + row.gaze_y, -0.7f * k_reach, 0.7f * k_reach);
  return {x, y, std::sqrt(1 - x * x - y * y)};
}

}  // namespace

Eyes::Eyes(const Character& character, const Row& row, const Placement& placement)
    : shape_(character.eyes),
      brow_shape_(character.brows),
      brow_lift_(row.brow),
      tilt_(shape_.tilt) {
  const float smile = std::max(row.smile - 0.25f, 0.0f);
  for (int side = 0; side < 2; ++side) {
    const Triple centre{side ? shape_.centre.x : -shape_.centre.x, shape_.centre.y,
                        shape_.centre.z};
    gaze_[side] = gaze(centre, side ? k_outward : -k_outward, row, placement);
    const float blink = side ? row.blink_right : row.blink_left;
    const float open = shape_.upper_lid + 0.30f * gaze_[side].y + 0.05f * row.brow;
    // Closed, the upper lid overlaps the lower one by so much that no iris shows.
    const float upper = open * (1 - blink) - (shape_.lower_lid + 0.01f) * blink;
    const float lower = -shape_.lower_lid + 0.15f * gaze_[side].y - 0.02f * blink +
                        0.16f * row.squint + 0.12f * smile;
    upper_[side] = {0, std::cos(upper), std::sin(upper)};
    lower_[side] = {0, std::cos(lower), std::sin(lower)};
  }
}

Eyes::Lids Eyes::lids(Vec head) const {
  const Mask right = head.x > 0.0f;
  const auto pick = [&](float left_value, float right_value) {
    return select(right, all(right_value), all(left_value));
  };
  Lanes x = abs(head.x) - shape_.centre.x, y = head.y - shape_.centre.y,
        z = head.z - shape_.centre.z;
  tilt_.apply(x, y);
  const Lanes r = length(x, y, z);
  const Lanes above = y * pick(upper_[0].y, upper_[1].y) - z * pick(upper_[0].z, upper_[1].z);
  const Lanes below = z * pick(lower_[0].z, lower_[1].z) - y * pick(lower_[0].y, lower_[1].y);
  const float radius = shape_.radius;
  Lids result;
  result.ball = r - radius;
  result.upper = intersect(r - (radius + 0.021f), -above, 0.018f);
  result.lower = intersect(r - (radius + 0.010f), -below, 0.016f);
  result.below_upper = above;
  // A dark line along the upper lid, thicker outwards, that lifts off in a small wing.
  // On its way down the line rises over the lower lid.
  const Lanes height = pick(upper_[0].z, upper_[1].z);
  const Lanes closing = max(height * -0.05f, 0.0f), sag = 0.003f + max(height * 0.022f, 0.0f);
  const Lanes out = step(0.12f, 0.25f, x), ends = step(-0.25f, -0.16f, x) * step(0.262f, 0.20f, x);
  const Lanes thick = shape_.lash * (0.25f + 0.75f * ends) * (0.7f + 0.5f * out);
  const Lanes line = intersect(abs(r - (radius + 0.028f + 0.4f * closing)) - thick,
                               abs(above + sag - shape_.wing * out * out) - thick, 0.008f);
  result.lash = max(max(line, abs(x - 0.012f) - 0.245f), -z);
  return result;
}

Lanes Eyes::brows(Vec head, Lanes skin) const {
  const BrowShape& b = brow_shape_;
  const Lanes from = (abs(head.x) - b.centre_x) * (1 / b.half_length), u = clamp(from, -1, 1);
  const Lanes y = b.y + 0.035f * brow_lift_ - b.arch * square(u - 0.05f) - b.slope * u;
  const Lanes thick = b.thickness * (1.0f - 0.27f * u - 0.33f * u * u);
  const Lanes beyond = max(abs(from) - 1.0f, 0.0f) * b.half_length;
  const Lanes stroke = length(head.y - y, beyond) - thick;
  return max(intersect(stroke, skin - 0.011f, 0.016f), 0.2f - head.z);
}

Vec Eyes::on_iris(Vec head) const {
  const Mask right = head.x > 0.0f;
  const auto pick = [&](float a, float b) { return select(right, all(b), all(a)); };
  const float inverse = 1 / shape_.radius;
  const Lanes x = (head.x - pick(-shape_.centre.x, shape_.centre.x)) * inverse;
  const Lanes y = (head.y - shape_.centre.y) * inverse, z = (head.z - shape_.centre.z) * inverse;
  return {x - pick(gaze_[0].x, gaze_[1].x), y - pick(gaze_[0].y, gaze_[1].y), z};
}

}  // namespace render
