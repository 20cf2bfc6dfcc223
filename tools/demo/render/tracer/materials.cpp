#include "tools/demo/render/tracer/materials.h"

namespace render {
namespace {

Lanes spot(Lanes dx, Lanes dy, float narrow_x, float narrow_y) {
  return bell(dx * dx * narrow_x + dy * dy * narrow_y);
}

// Skin with its redder zones, lips, and the hollow of the mouth.
void paint_skin(const Scene& scene, const Parts& parts, Vec p, Material& m) {
  const Character& c = scene.character();
  const Palette& colours = c.palette;
  const Lanes x = abs(p.x);
  const Lanes cheek = spot(x - 0.36f, p.y + 0.22f, 26, 34);
  const Lanes nose = spot(p.x, p.y + 0.19f, 60, 60) * step(0.70f, 0.82f, p.z);
  const Lanes ear = step(0.66f, 0.78f, x);
  const Lanes lids = spot(x - c.eyes.centre.x, p.y - c.eyes.centre.y - 0.06f, 30, 55);
  m.albedo = mix(m.albedo, colours.blush, cheek * 0.62f + nose * 0.35f + ear * 0.45f);
  m.albedo = mix(m.albedo, colours.eye_shade, lids * 0.45f);
  const Lanes lips = step(0.0165f, 0.0075f, parts.lips);
  m.gloss = m.gloss * (1.0f - 0.85f * step(0.060f, 0.020f, parts.lips));  // no halo around the lips
  m.albedo = mix(m.albedo, colours.lips, lips * 0.80f);
  m.gloss = mix(m.gloss, all(0.40f), lips);
  m.sharpness = mix(m.sharpness, all(46.0f), lips);
  m.inside = step(0.030f, 0.008f, parts.cavity) * step(0.020f, 0.060f, parts.behind_lips);
  const Vec hollow =
      mix(colours.mouth, colours.mouth * 0.45f, step(0.05f, 0.30f, parts.behind_lips));
  m.albedo = mix(m.albedo, hollow, m.inside);
  m.gloss = m.gloss * (1.0f - 0.8f * m.inside);
  m.soft = 1.0f - m.inside;
}

// Iris, pupil, white, and the upper lid's shadow over them.
Vec eye_colour(const Scene& scene, const Parts& parts, Vec p) {
  const Palette& colours = scene.character().palette;
  const EyeShape& shape = scene.character().eyes;
  const Vec q = scene.eyes().on_iris(p);
  const Lanes r = select(q.z < 0.0f, all(2.0f), length(q.x, q.y));
  const Lanes around = q.y / (abs(q.x) + abs(q.y) + 0.02f);
  const Lanes fibres = 0.5f + 0.3f * sine(around * 31.0f + abs(q.x) * 3.0f) +
                       0.2f * sine(around * 67.0f - q.x * 4.0f);
  Vec iris =
      mix(colours.iris_dark, colours.iris_light, fibres * 0.35f + unit(0.45f - q.y * 0.9f) * 0.75f);
  iris = iris * (1.0f - 0.8f * step(shape.iris - 0.13f, shape.iris, r));
  iris =
      mix(iris, Triple{0.006f, 0.005f, 0.005f}, step(shape.pupil + 0.02f, shape.pupil - 0.01f, r));
  const Lanes corner = step(0.55f, 1.0f, abs(abs(p.x) - shape.centre.x) * (1 / shape.radius));
  const Vec white = mix(colours.eye_white, Triple{0.78f, 0.50f, 0.42f}, corner * 0.45f);
  const Vec eye = mix(white, iris, step(shape.iris + 0.02f, shape.iris - 0.02f, r));
  const Lanes away = square(abs(p.x) - shape.centre.x) + square(p.y - shape.centre.y);
  return eye * (1.0f - 0.35f * unit(away * (1 / square(shape.radius)))) *
         (1.0f - 0.55f * step(-0.095f, 0.0f, parts.below_upper_lid));
}

Vec tooth_colour(const Palette& colours, Vec p) {
  const Lanes gap = step(0.16f, 0.0f, abs(sine(p.x * 47.6f)));
  const Vec front = mix(colours.teeth, colours.teeth * 0.7f, gap * 0.35f);
  return mix(front, colours.teeth * 0.5f, step(0.58f, 0.44f, p.z));
}

// Rows of knitted loops.
Lanes stitches(Vec world) {
  const Lanes side = sine(world.x * 88.0f), row = sine(world.y * 140.0f + 1.6f * abs(side));
  return 1.0f + 0.06f * row * (0.6f + 0.4f * abs(side));
}

struct Coat {
  float gloss, sharpness, soft;
};

void paint(Material& m, Mask where, Vec albedo, Coat coat) {
  m.albedo = select(where, albedo, m.albedo);
  m.gloss = select(where, all(coat.gloss), m.gloss);
  m.sharpness = select(where, all(coat.sharpness), m.sharpness);
  m.soft = select(where, all(coat.soft), m.soft);
}

}  // namespace

Material material_at(const Scene& scene, const Parts& parts, Vec world, Vec head) {
  const Palette& colours = scene.character().palette;
  Material m{vec(colours.skin), all(0.20f), all(22.0f), all(1.0f),
             all(0.0f),         all(0.0f),  all(0.0f),  {}};
  paint_skin(scene, parts, head, m);
  const Lanes nearest = min(min(min(parts.skin, parts.hair), min(parts.eye, parts.teeth)),
                            min(min(min(parts.tongue, parts.cloth), min(parts.brow, parts.lash)),
                                min(parts.trim, parts.collar)));
  const Lanes strands =
      0.5f + 0.25f * sine(parts.strand * 63.0f) + 0.25f * sine(parts.strand * 149.0f + 2.0f);
  const Mask hair = parts.hair <= nearest;
  paint(m, hair, mix(colours.hair_dark, colours.hair_light, 0.35f + strands * 0.35f),
        {0.05f, 14, 0});
  m.fur = select(hair, all(scene.character().hair == Hair::bob ? 1.0f : 0.0f), all(0.0f));
  paint(m, parts.brow <= nearest, vec(colours.brow), {0.03f, 8, 0});
  paint(m, parts.lash <= nearest, vec(colours.lash), {0.05f, 20, 0});
  const Mask teeth = parts.teeth <= nearest, tongue = parts.tongue <= nearest;
  paint(m, teeth, tooth_colour(colours, head), {0.35f, 60, 0.3f});
  paint(m, tongue, vec(colours.tongue), {0.22f, 30, 0.8f});
  paint(m, parts.cloth <= nearest, vec(colours.cloth) * stitches(world), {0.03f, 6, 0});
  paint(m, parts.collar <= nearest, vec(colours.collar), {0.04f, 8, 0});
  paint(m, parts.trim <= nearest, vec(colours.trim), {0.5f, 60, 0});
  m.eye = parts.eye <= nearest;
  paint(m, m.eye, eye_colour(scene, parts, head), {0, 60, 0});
  m.glow = select(teeth, 0.12f + 0.50f * step(0.17f, 0.07f, parts.behind_lips),
                  select(tongue, all(0.35f), all(0.0f)));
  m.inside = select(teeth | tongue, all(0.5f), select(parts.skin <= nearest, m.inside, all(0.0f)));
  return m;
}

}  // namespace render
