#include "tools/demo/render/head/pose.h"

#include <cmath>

namespace render {

// Rotation = yaw * pitch * roll, so that a tilted head still turns about the upright neck.
Placement::Placement(const Row& row)
    : pivot{k_neck.x + row.head_x, k_neck.y + row.head_y, k_neck.z} {
  const float cy = std::cos(row.yaw), sy = std::sin(row.yaw);
  const float cp = std::cos(row.pitch), sp = std::sin(row.pitch);
  const float cr = std::cos(row.roll), sr = std::sin(row.roll);
  columns[0] = {cy * cr + sy * sp * sr, cp * sr, -sy * cr + cy * sp * sr};
  columns[1] = {-cy * sr + sy * sp * cr, cp * cr, sy * sr + cy * sp * cr};
  columns[2] = {sy * cp, -sp, cy * cp};
}

}  // namespace render
