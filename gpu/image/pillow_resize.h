// Resizing with Pillow's 8-bit arithmetic, bit for bit: a filter that grows with the scale, so that nothing is
// skipped when a picture is made smaller. What MuseTalk's face parsing saw. Single-threaded and re-entrant;
// destinations must not overlap sources; any number of channels, the same in both.
#pragma once

#include "core/tensor/image.h"

namespace navtalk {

enum class PillowFilter { bilinear, bicubic };

// The destination's size says the scale; an axis of the same size is left alone.
void pillow_resize(ConstImageView source, ImageView destination, PillowFilter filter);

}  // namespace navtalk
