// One frame of one character as signed distances: what the tracer marches through and the shading
// asks about.
#pragma once

#include "tools/demo/render/head/character.h"
#include "tools/demo/render/head/clothes.h"
#include "tools/demo/render/head/eyes.h"
#include "tools/demo/render/head/hair.h"
#include "tools/demo/render/head/mouth.h"
#include "tools/demo/render/head/pose.h"

namespace render {

// How far a point is from each material.
struct Parts {
  Lanes skin = all(k_far), hair = all(k_far), eye = all(k_far), teeth = all(k_far),
        tongue = all(k_far);
  Lanes cloth = all(k_far), collar = all(k_far), brow = all(k_far), lash = all(k_far),
        trim = all(k_far);
  // Not surfaces of their own: how far from the lips, from the mouth's hollow; how far behind the
  // lips.
  Lanes lips = all(k_far), cavity = all(k_far), behind_lips = all(-k_far);
  Lanes below_upper_lid = all(k_far), strand = {};
};

class Scene {
 public:
  Scene(const Character& character, const Row& row);

  // Distance of anything, good enough to march along.
  Lanes distance(Vec world) const;
  // The same without what casts no shadow worth its time: lashes, teeth, grooves.
  Lanes coarse_distance(Vec world) const;
  Parts parts(Vec world) const;

  const Character& character() const { return character_; }
  const Placement& placement() const { return placement_; }
  const Eyes& eyes() const { return eyes_; }

 private:
  enum class Detail { coarse, fine, all };
  template <Detail detail>
  Lanes measure(Vec world, Parts& parts) const;
  template <Detail detail>
  void add_head(Vec p, Lanes neck, Parts& parts) const;
  template <Detail detail>
  void add_mouth(Vec p, Vec jaw, Parts& parts) const;
  void add_eyes(Vec p, Parts& parts) const;
  template <Detail detail>
  Garment body(Vec world) const;
  Lanes bare_head(Vec p, Vec jaw, Lanes neck) const;
  Lanes with_nose(Lanes skin, Vec p, Vec side) const;
  Lanes ear(Vec folded) const;

  const Character& character_;
  Row row_;
  Placement placement_;
  Mouth mouth_;
  Eyes eyes_;
};

}  // namespace render
