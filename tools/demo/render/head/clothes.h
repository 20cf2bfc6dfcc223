// Shoulders and what is worn over them, in world coordinates: the body does not turn with the head.
#pragma once

#include "tools/demo/render/head/character.h"

namespace render {

struct Garment {
  Lanes cloth, collar;  // distances
};

// `breath`: 0 .. 1, lifts chest and shoulders. `detail`: with what casts no shadow worth its time.
Garment sweater(const BodyShape& body, Vec world, float breath, bool detail);
Garment shirt(const BodyShape& body, Vec world, float breath);

}  // namespace render
