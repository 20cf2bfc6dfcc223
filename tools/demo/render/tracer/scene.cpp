#include "tools/demo/render/tracer/scene.h"

#include "tools/demo/render/head/glasses.h"

namespace render {

Scene::Scene(const Character& character, const Row& row)
    : character_(character),
      row_(row),
      placement_(row),
      mouth_(character.mouth, row),
      eyes_(character, row, placement_) {}

template <Scene::Detail detail>
Garment Scene::body(Vec world) const {
  constexpr bool fine = detail != Detail::coarse;
  return character_.clothes == Clothes::sweater ? sweater(character_.body, world, row_.breath, fine)
                                                : shirt(character_.body, world, row_.breath);
}

// Skull, face and nose, without what moves on them.
Lanes Scene::bare_head(Vec p, Vec jaw, Lanes neck) const {
  const HeadShape& shape = character_.head;
  const Vec side = folded(p);
  // A hint of softness where the two brow ridges meet, which abs() would crease.
  const Vec soft{root(p.x * p.x + 0.004f), p.y, p.z};
  const float lift = 0.02f * row_.smile;
  Lanes d = join(render::distance(shape.cranium, p), render::distance(shape.face, p), 0.20f);
  d = join(d, render::distance(shape.jaw, jaw), 0.16f);
  d = join(d, render::distance(shape.chin, jaw), 0.26f);
  d = join(d, render::distance(shape.muzzle, p), 0.14f);
  d = join(d, render::distance(shape.cheek, side - Triple{0, lift, 0}), 0.16f);
  static const Ellipsoid chin_dip({0, -0.612f, 0.735f}, {0.150f, 0.035f, 0.050f});
  d = intersect(d, -render::distance(chin_dip, jaw), 0.10f);
  d = join(d, neck, 0.10f);
  d = join(d, render::distance(shape.brow_ridge, soft), 0.16f);
  d = intersect(d, -render::distance(shape.socket, side), 0.11f);
  static constexpr Sphere k_nose{{0, -0.12f, 0.70f}, 0.36f};
  return any(render::distance(k_nose, p) < 0.10f) ? with_nose(d, p, side) : d;
}

Lanes Scene::with_nose(Lanes skin, Vec p, Vec side) const {
  const HeadShape& shape = character_.head;
  Lanes nose =
      join(render::distance(shape.nose_bridge, p), render::distance(shape.nose_tip, p), 0.07f);
  nose = join(nose, render::distance(shape.nose_wing, side), 0.035f);
  skin = join(skin, nose, 0.085f);
  skin = intersect(skin, -render::distance(shape.nostril, side), 0.025f);
  static constexpr Capsule k_philtrum({0, -0.30f, 0.745f}, {0, -0.385f, 0.745f}, 0.020f, 0.028f);
  return intersect(skin, -render::distance(k_philtrum, p), 0.06f);
}

// A shell with a rolled rim, a bowl and a lobe, opened towards the front.
Lanes Scene::ear(Vec folded) const {
  static const Turn open(0.62f), lean(0.18f);
  static const Ellipsoid shell({0, 0, 0}, {0.050f, 0.195f, 0.125f});
  static const Ellipsoid lobe({0.0f, -0.145f, 0.035f}, {0.042f, 0.070f, 0.055f});
  static const Ellipsoid bowl({0.060f, -0.010f, 0.020f}, {0.055f, 0.100f, 0.062f});
  Vec p = (folded - character_.head.ear) * (1 / character_.head.ear_size);
  open.apply(p.x, p.z);
  lean.apply(p.y, p.z);
  const Lanes radial = (length(p.y * (1 / 0.165f), p.z * (1 / 0.098f)) - 1.0f) * 0.115f;
  const Lanes rim = length(radial, p.x - 0.028f) - 0.022f;
  Lanes d = join(render::distance(shell, p), render::distance(lobe, p), 0.08f);
  d = join(d, max(rim, -p.y - 0.10f), 0.03f);
  d = intersect(d, -render::distance(bowl, p), 0.04f);
  return d * character_.head.ear_size;
}

// Lips, the hollow cut between them, and what is in it.
template <Scene::Detail detail>
void Scene::add_mouth(Vec p, Vec jaw, Parts& parts) const {
  const Mouth::Lips shape = mouth_.lips(p);
  parts.lips = shape.lips;
  parts.behind_lips = shape.behind;
  parts.skin = join(parts.skin, shape.lips, 0.040f);
  parts.cavity = join(shape.opening, max(mouth_.room(p), parts.skin + 0.07f), 0.03f);
  parts.skin = intersect(parts.skin, -parts.cavity, 0.022f);
  if (detail == Detail::coarse || !mouth_.parted()) return;
  parts.teeth = max(mouth_.teeth(p, jaw), parts.cavity + 0.004f);
  parts.tongue = max(mouth_.tongue(jaw), parts.cavity + 0.004f);
}

void Scene::add_eyes(Vec p, Parts& parts) const {
  const Eyes::Lids lids = eyes_.lids(p);
  parts.skin = join(join(parts.skin, lids.upper, 0.055f), lids.lower, 0.075f);
  parts.eye = lids.ball;
  parts.lash = lids.lash;
  parts.below_upper_lid = lids.below_upper;
}

// The head with all that is on it, in its own frame; `neck` is how far the neck is. Unless
// everything is asked for, spheres keep packets from computing what is far from all of their rays.
template <Scene::Detail detail>
void Scene::add_head(Vec p, Lanes neck, Parts& parts) const {
  constexpr bool fine = detail != Detail::coarse, whole = detail == Detail::all;
  static constexpr Sphere k_brows{{0.28f, 0.34f, 0.60f}, 0.26f};
  const Vec side = folded(p), jaw = mouth_.to_jaw(p);
  const auto near = [](const Sphere& bounds, Vec point, float margin) {
    return whole || any(render::distance(bounds, point) < margin);
  };
  parts.skin = bare_head(p, jaw, neck);
  if (near({character_.head.ear, 0.30f}, side, 0.12f))
    parts.skin = join(parts.skin, ear(side), 0.05f);
  if (near(Mouth::k_bounds, p, 0.10f)) add_mouth<detail>(p, jaw, parts);
  if (fine && near(k_brows, side, 0.06f)) parts.brow = eyes_.brows(p, parts.skin);
  if (near(eyes_.bounds(), side, 0.10f)) add_eyes(p, parts);
  if (character_.glasses) parts.trim = glasses(side);
  const HairSurface hair = character_.hair == Hair::bob ? hair_bob(p, fine) : hair_curls(p, fine);
  parts.hair = hair.distance;
  parts.strand = hair.strand;
}

template <Scene::Detail detail>
Lanes Scene::measure(Vec world, Parts& parts) const {
  constexpr bool whole = detail == Detail::all;
  static constexpr Sphere k_head{{0, 0.06f, -0.12f}, 1.18f};
  const Lanes neck = render::distance(character_.head.neck, world);
  // All that is worn lies below y = -1. Far above it, that bound will do; near enough for the light
  // that it blocks, not.
  const bool low = whole || any(world.y < -0.45f);
  const Garment garment = low ? body<detail>(world) : Garment{world.y + 1.0f, all(k_far)};
  parts.cloth = garment.cloth;
  parts.collar = garment.collar;
  const Lanes torso = min(min(garment.cloth, garment.collar), neck);
  const Vec p = placement_.to_head(world);
  const Lanes head = render::distance(k_head, p);
  if (!whole && !any(head < 0.25f)) return min(torso, head + 0.05f) * 0.85f;
  add_head<detail>(p, neck, parts);
  const Lanes small = min(min(min(parts.eye, parts.lash), min(parts.teeth, parts.tongue)),
                          min(parts.brow, parts.trim));
  return min(min(torso, small), min(parts.skin, parts.hair)) * 0.85f;
}

Lanes Scene::distance(Vec world) const {
  Parts unused;
  return measure<Detail::fine>(world, unused);
}

Lanes Scene::coarse_distance(Vec world) const {
  Parts unused;
  return measure<Detail::coarse>(world, unused);
}

Parts Scene::parts(Vec world) const {
  Parts result;
  measure<Detail::all>(world, result);
  return result;
}

}  // namespace render
