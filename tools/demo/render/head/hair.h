// Hair: one smooth volume per style, with the direction that its strands take.
#pragma once

#include "tools/demo/render/head/character.h"

namespace render {

struct HairSurface {
  Lanes distance;
  Lanes strand;  // the same number along a strand, another one beside it
};

// `detail`: with grooves between locks, which shadows do not need. `head` is in the head's frame.
HairSurface hair_bob(Vec head, bool detail);
HairSurface hair_curls(Vec head, bool detail);

}  // namespace render
