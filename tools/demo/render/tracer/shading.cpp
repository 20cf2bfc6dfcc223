#include "tools/demo/render/tracer/shading.h"

#include "tools/demo/render/head/glasses.h"
#include "tools/demo/render/tracer/materials.h"

namespace render {
namespace {

constexpr float k_near = 7.65f, k_beyond = 10.6f;  // along a ray: where anything begins and ends
constexpr int k_steps = 110;
constexpr float k_least_step = 0.0025f;  // rays that graze a surface get past it

// Diffuse light that reaches `reach` around the edge of the lit side.
Lanes wrapped(Lanes facing, float reach) {
  return unit((facing + reach) * (1.0f / (1.0f + reach)));
}

Vec ray(Lanes u, Lanes v) {
  return normalized(Vec{u - k_camera.x, v - k_camera.y, all(-k_camera.z)});
}

struct Hit {
  Lanes t;
  Mask miss;
};

// Rays that run out of steps beside an edge are misses: counted as hits, they dot the silhouette.
Hit march(const Scene& scene, Vec direction, Lanes start) {
  Lanes t = start, d = {};
  Mask done = {};
  for (int i = 0; i < k_steps; ++i) {
    d = scene.distance(direction * t + k_camera);
    done |= (d < 0.0009f) | (t > k_beyond);
    t = t + select(done, min(d, 0.0f), max(d, k_least_step));
    if (!any(~done)) break;
  }
  return {t, (t > k_beyond) | ((d > 0.0045f) & ~done)};
}

Vec normal_at(const Scene& scene, Vec p) {
  constexpr float e = 0.0012f;
  const Lanes a = scene.distance(p + Triple{e, -e, -e}), b = scene.distance(p + Triple{-e, -e, e});
  const Lanes c = scene.distance(p + Triple{-e, e, -e}), d = scene.distance(p + Triple{e, e, e});
  return normalized(Vec{a - b - c + d, c + d - a - b, b + d - a - c});
}

// 1 in the open, 0 in a crease.
Lanes openness(const Scene& scene, Vec p, Vec n) {
  Lanes blocked = {};
  float weight = 1, total = 0;
  for (int i = 1; i <= 5; ++i) {
    const float height = 0.012f + 0.018f * i * i;
    const Lanes d = scene.coarse_distance(p + n * height) * (1 / 0.85f);
    blocked = blocked + weight * max(height - d, 0.0f) / height;
    total += weight;
    weight *= 0.8f;
  }
  return unit(1.0f - 1.05f / total * blocked);
}

Lanes shadow(const Scene& scene, Vec p, Vec n, Triple light) {
  const Vec from = p + n * 0.02f, along = vec(light);
  Lanes t = all(0.03f),
        lit = step(-0.40f, -0.36f, dot(n, light));  // none where the surface turns away
  for (int i = 0; i < 26; ++i) {
    const Lanes d = scene.coarse_distance(from + along * t);
    lit = min(lit, max(7.0f * d / t, 0.0f));
    t = t + clamp(d, 0.018f, 0.25f);
    if (!any((lit > 0.01f) & (t < 1.9f) & (d < 0.45f))) break;
  }
  lit = unit(lit);
  return lit * lit * (3.0f - 2.0f * lit);
}

Vec backdrop(const Character& c, Lanes u, Lanes v) {
  const Lanes x = (u - c.full_view.x) * (1 / c.full_view.half),
              y = (v - c.full_view.y) * (1 / c.full_view.half);
  const Lanes glow = bell(0.9f * square(x - 0.10f) + 1.0f * square(y - 0.15f));
  return mix(c.lighting.backdrop, c.lighting.backdrop_glow, glow * 0.85f) *
         (1.0f - 0.30f * step(0.2f, -1.3f, y));
}

// A film's curve: shadows and highlights roll off.
Vec developed(Vec light, float exposure) {
  const auto curve = [&](Lanes x) {
    x = max(x, 0.0f) * exposure;
    return power(unit(x * (2.51f * x + 0.03f) / (x * (2.43f * x + 0.59f) + 0.14f)), 1 / 2.2f);
  };
  return {curve(light.x), curve(light.y), curve(light.z)};
}

struct Point {
  Vec world, head, normal, towards_eye;
  Lanes open, lit;  // openness to the sky, to the key light
};

// Light that comes straight and from around. Red light travels farther under soft surfaces, so that
// it reaches around edges and into shadows.
Vec diffuse_light(const Lighting& light, const Material& m, const Point& p) {
  const Lanes key = dot(p.normal, light.key.direction), hard = wrapped(key, 0.0f);
  const Lanes lit_red = power(unit(p.lit + m.soft * 0.03f * (1.0f - p.lit)) + 1e-4f, 0.8f);
  const Vec straight{mix(hard, wrapped(key, 0.32f), m.soft) * lit_red,
                     mix(hard, wrapped(key, 0.16f), m.soft) * p.lit,
                     mix(hard, wrapped(key, 0.11f), m.soft) * p.lit};
  const Vec around = mix(light.ground, light.sky, 0.5f + 0.5f * p.normal.y) +
                     vec(light.fill.colour) * wrapped(dot(p.normal, light.fill.direction), 0.4f);
  const Vec open{mix(p.open, power(p.open + 1e-3f, 0.78f), m.soft), p.open, p.open};
  return m.albedo * (straight * light.key.colour + around * open);
}

// The key light's reflection: a spot, or on hair a band across the strands.
Vec highlight(const Lighting& light, const Material& m, const Point& p, Lanes strand) {
  const Vec half = normalized(p.towards_eye + light.key.direction);
  const Lanes facing = dot(p.normal, half);
  const Lanes spot = m.gloss * exp2(m.sharpness * (log2(unit(facing) + 1e-5f))) * p.lit;
  const Vec flow = normalized(cross(p.normal, Vec{all(-0.35f), all(0.6f), all(1.0f)}));
  const Lanes along = dot(flow, half) + 0.05f * sine(strand * 40.0f);
  const Lanes band = power(max(1.0f - along * along, 1e-4f), 60.0f) * max(facing, 0.0f);
  return vec(light.key.colour) * (spot * (1.0f - m.fur)) +
         m.albedo * light.key.colour * (m.fur * band * 0.9f * p.lit);
}

// Lights from behind on the outline, and skin that glows where it is seen edge-on.
Vec rim_light(const Lighting& light, const Material& m, const Point& p) {
  const Lanes away = 1.0f - unit(dot(p.normal, p.towards_eye)) + 1e-4f;
  const Lanes edge = power(away, 2.6f);
  const Vec tint = mix(m.albedo, Triple{0.5f, 0.5f, 0.5f}, all(0.35f));
  const Lanes strength = mix(all(0.55f), all(1.0f), m.soft) * p.open * (1.0f - m.inside);
  Vec sum = vec(Triple{0.20f, 0.045f, 0.02f}) * (m.soft * power(away, 4.0f) * 0.5f * p.open);
  for (const Light& rim : {light.rim_left, light.rim_right}) {
    const Lanes r = unit(dot(p.normal, rim.direction) * 1.2f + 0.1f) * edge;
    sum = sum + tint * rim.colour * (r * strength);
  }
  return sum;
}

// Reflections on the wet eyeball: two fixed windows that keep the eyes alive, and its rim.
Vec with_catchlights(const Scene& scene, Vec colour, const Material& m, const Point& p) {
  const Triple eye = scene.character().eyes.centre;
  const Lanes side = select(p.head.x < 0.0f, all(-eye.x), all(eye.x));
  const Vec out = normalized(Vec{p.head.x - side, p.head.y - eye.y, p.head.z - eye.z});
  const Triple key = scene.character().lighting.key.direction;
  const Lanes big =
      step(0.9870f, 0.9910f, dot(out, normalized(Triple{key.x, key.y, key.z + 1.1f})));
  const Lanes small =
      0.35f * step(0.9955f, 0.9985f, dot(out, normalized(Triple{0.34f, -0.22f, 1.0f})));
  const Lanes on = select(m.eye, all(1.0f), all(0.0f));
  colour = mix(colour, Triple{2.6f, 2.6f, 2.6f}, on * (big * 0.95f + small));
  const Lanes rim = power(1.0f - unit(dot(out, p.towards_eye)) + 1e-4f, 3.0f) * 0.15f;
  return colour + vec(Triple{0.6f, 0.65f, 0.7f}) * (on * rim * p.open);
}

}  // namespace

Lanes free_way(const Scene& scene, Lanes u, Lanes v, float radius) {
  const Vec direction = ray(u, v);
  Lanes t = all(k_near);
  for (int i = 0; i < k_steps; ++i) {
    const Lanes d = scene.distance(direction * t + k_camera) - radius;
    const Mask going = (d > 0.6f * radius) & (t < k_beyond);
    t = t + select(going, d, all(0.0f));
    if (!any(going)) break;
  }
  return t;
}

Vec colour_at(const Scene& scene, Lanes u, Lanes v, Lanes start) {
  const Character& character = scene.character();
  const Vec direction = ray(u, v);
  const Hit hit = march(scene, direction, start);
  const Vec behind = backdrop(character, u, v);
  if (!any(~hit.miss)) return developed(behind, character.lighting.exposure);

  Point p;
  p.world = direction * hit.t + k_camera;
  p.head = scene.placement().to_head(p.world);
  p.normal = normal_at(scene, p.world);
  p.towards_eye = direction * -1.0f;
  p.open = openness(scene, p.world, p.normal);
  p.lit = shadow(scene, p.world, p.normal, character.lighting.key.direction);
  const Parts parts = scene.parts(p.world);
  const Material m = material_at(scene, parts, p.world, p.head);
  p.open = max(p.open, m.glow);
  p.lit = max(p.lit, m.glow);
  const Lighting& light = character.lighting;
  Vec colour =
      diffuse_light(light, m, p) + highlight(light, m, p, parts.strand) + rim_light(light, m, p);
  colour = with_catchlights(scene, colour, m, p);
  if (character.glasses) {
    const Lanes gloss = lens_gloss(p.head, scene.placement().turn_back(p.towards_eye));
    colour = mix(colour, character.lighting.fill.colour * 2.2f, gloss * 0.07f);
  }
  return developed(select(hit.miss, behind, colour), character.lighting.exposure);
}

}  // namespace render
