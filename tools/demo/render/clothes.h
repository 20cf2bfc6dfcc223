// Shoulders and what is worn over them, in world coordinates: the body does not turn with the head.
#pragma once

#include "tools/demo/render/character.h"

namespace render {

// `breath`: 0 .. 1, lifts chest and shoulders.
Lanes sweater(Vec world, float breath, bool detail);
Lanes shirt(Vec world, float breath, bool detail);

}  // namespace render
