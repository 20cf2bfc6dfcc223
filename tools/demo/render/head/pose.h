// One frame's input, and what follows from it for a head: the rows of standard input (README.md has
// their meaning).
#pragma once

#include "tools/demo/render/tracer/vec.h"

namespace render {

// Exactly the columns of a row, in order.
struct Row {
  float jaw, wide, round, press, upper, lower, tongue, tuck;
  float smile, blink_left, blink_right, gaze_x, gaze_y, brow;
  float yaw, pitch, roll, head_x, head_y, breath;
  float view_x, view_y, view_half, squint;
};
static_assert(sizeof(Row) == 24 * sizeof(float));

inline constexpr Triple k_camera{0, -0.35f, 9.0f};  // looks along -z, in the world

// Where the head is: world to head coordinates and back.
struct Placement {
  explicit Placement(const Row& row);
  Vec to_head(Vec world) const { return turn_back(world - pivot) + k_neck; }
  // Directions: into the head's frame.
  Vec turn_back(Vec direction) const {
    return {dot(direction, columns[0]), dot(direction, columns[1]), dot(direction, columns[2])};
  }

  static constexpr Triple k_neck{0, -0.62f, -0.10f};  // the head turns about this point
  Triple pivot;
  Triple columns[3];  // of the rotation head to world
};

}  // namespace render
