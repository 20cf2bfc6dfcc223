// One frame of one character as signed distances: what the tracer marches through and the shading
// asks about.
#pragma once

#include "tools/demo/render/character.h"
#include "tools/demo/render/clothes.h"
#include "tools/demo/render/eyes.h"
#include "tools/demo/render/hair.h"
#include "tools/demo/render/mouth.h"
#include "tools/demo/render/pose.h"

namespace render {

// How far a point is from each material.
struct Parts {
  Lanes skin, hair, eye, teeth, tongue, cloth, collar, brow, lash, trim;
  Lanes lips, cavity, behind_lips;  // not surfaces of their own: how far the skin is from the lips,
                                    // from the mouth's hollow
  Lanes below_upper_lid, strand;
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
  const Row& row() const { return row_; }
  const Placement& placement() const { return placement_; }
  const Eyes& eyes() const { return eyes_; }
  const Mouth& mouth() const { return mouth_; }

 private:
  enum class Detail { coarse, fine, all };
  template <Detail detail>
  Lanes measure(Vec world, Parts* parts) const;
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
