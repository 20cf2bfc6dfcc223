// What makes one character: proportions, colours, light. Plain numbers that the shapes read;
// ada.cpp and theo.cpp fill them. The mouth moves alike in all characters, so that one model
// animates them all.
//
// Scene units: the head is about 2 high, its origin near its middle, x to the viewer's right, y up,
// z to the camera. Paired parts (eyes, ears, cheeks) are given for x >= 0. Colours are linear
// light.
#pragma once

#include <string_view>

#include "tools/demo/render/tracer/shapes.h"

namespace render {

struct HeadShape {
  Ellipsoid cranium, face, jaw, chin, muzzle, cheek;
  Capsule brow_ridge;
  Ellipsoid socket;
  Capsule nose_bridge;
  Ellipsoid nose_tip, nose_wing, nostril;
  Triple ear;  // its middle
  float ear_size;
  Capsule neck;
};

// Shoulders, in the world: they stay when the head turns.
struct BodyShape {
  Ellipsoid torso, arm;
  Capsule slope;  // from the neck to the shoulder
  float collar_y, collar_radius;
};

struct EyeShape {
  Triple centre;
  float radius;
  float iris, pupil;           // radii, as parts of the eyeball's
  float upper_lid, lower_lid;  // radians above and below the axis when open
  float tilt;                  // radians, outer corner up
  float lash, wing;            // thickness of the lash line; how far its outer end lifts
};

struct BrowShape {
  float centre_x, half_length, y, thickness;
  float arch, slope;  // how far the ends fall below the middle; inner end over outer end
};

struct MouthShape {
  float y, z;  // middle of the resting lips' line
  float half_width;
  float upper_lip, lower_lip;  // half thickness
  float bow;                   // depth of the upper lip's bow
};

enum class Hair { bob, curls };
enum class Clothes { sweater, shirt };

struct Palette {
  Triple skin, blush, eye_shade, lips, mouth, tongue, teeth;
  Triple hair_dark, hair_light, brow, lash;
  Triple iris_dark, iris_light, eye_white;
  Triple cloth, collar, trim;  // trim: glasses
};

struct Light {
  Triple direction;  // towards the light, of length 1
  Triple colour;
};

struct Lighting {
  Light key, fill, rim_left, rim_right;
  Triple sky, ground;  // light from everywhere, from above and below
  Triple backdrop, backdrop_glow;
  float exposure;
};

// A square window onto the scene: centre and half of its side, in the plane z = 0.
struct View {
  float x, y, half;
};

struct Character {
  std::string_view name;
  HeadShape head;
  BodyShape body;
  EyeShape eyes;
  BrowShape brows;
  MouthShape mouth;
  Hair hair;
  Clothes clothes;
  bool glasses;
  Palette palette;
  Lighting lighting;
  View full_view, face_view;
};

const Character& ada();
const Character& theo();

}  // namespace render
