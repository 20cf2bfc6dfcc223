// The mouth of one frame: two lips along analytic curves, the opening between them, teeth and
// tongue behind it.
//
//            ___ bow ___
//      .--''  upper lip  ''--.        the opening's edges, -half_width <= x <= half_width:
//    <-------- opening -------->          middle(x) + upper_gap * profile(x)
//      '--..  lower lip  ..--'            middle(x) - lower_gap * profile(x)
//            '''-------'''            profile is 1 in the middle, 0 at the corners
#pragma once

#include "tools/demo/render/head/character.h"
#include "tools/demo/render/head/pose.h"

namespace render {

class Mouth {
 public:
  Mouth(const MouthShape& shape, const Row& row);

  struct Lips {
    Lanes lips, opening;  // distances; the opening is a slit that reaches into the head
    Lanes behind;         // how far behind the lips' middle
  };
  // `p` in the head's frame.
  Lips lips(Vec p) const;
  // The hollow behind the lips.
  Lanes room(Vec p) const { return distance(room_, p); }
  // `jaw`: the same point in the frame that turns with the jaw.
  Lanes teeth(Vec p, Vec jaw) const;
  Lanes tongue(Vec jaw) const;

  // From the head's frame into the jaw's.
  Vec to_jaw(Vec p) const;
  // False: the lips hide whatever is behind them.
  bool parted() const { return overlap_ == 0; }
  // Sphere around all that moves with the mouth.
  static constexpr Sphere k_bounds{{0, -0.55f, 0.46f}, 0.46f};

 private:
  void set_gaps(const Row& row, float press);
  float rest_y_;
  float half_width_, upper_gap_, lower_gap_, overlap_, middle_y_, corner_lift_, lip_z_, forward_;
  float upper_lip_, lower_lip_, upper_back_, lower_back_, bow_;
  float roundness_, reach_, corner_, profile_round_;
  float jaw_cos_, jaw_sin_, tongue_up_;
  Ellipsoid room_;
};

}  // namespace render
