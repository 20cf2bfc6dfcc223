// The eyes of one frame: balls that look somewhere, lids that open about the ball's horizontal
// axis, lashes, brows.
#pragma once

#include "tools/demo/render/head/character.h"
#include "tools/demo/render/head/pose.h"

namespace render {

class Eyes {
 public:
  Eyes(const Character& character, const Row& row, const Placement& placement);

  struct Lids {
    Lanes ball, upper, lower, lash;  // distances
    Lanes below_upper;  // distance from the upper lid's plane, negative in the opening: for its
                        // shadow
  };
  Lids lids(Vec head) const;
  // Distance of the brows, which lie on skin that is `skin` away.
  Lanes brows(Vec head, Lanes skin) const;
  // Position on the eyeball for a point of the head: x, y across the iris' plane in eyeball radii
  // from the pupil, z along the gaze.
  Vec on_iris(Vec head) const;
  // Sphere around eyeball and lids, for a folded point.
  Sphere bounds() const { return {shape_.centre, shape_.radius + 0.07f}; }

 private:
  EyeShape shape_;
  BrowShape brow_shape_;
  float brow_lift_;
  Triple upper_[2],
      lower_[2];    // normals of the lids' edge planes, (unused, y, z); viewer's left, right
  Triple gaze_[2];  // where the pupil is, in eyeball radii
  Turn tilt_;
};

}  // namespace render
