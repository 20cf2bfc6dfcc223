// Resizing with OpenCV's 8-bit arithmetic, bit for bit (4.6 to 4.9, without IPP): what MuseTalk's
// crops and pastes went through. Single-threaded and re-entrant; destinations must not overlap
// sources; any number of channels, the same in both.
#pragma once

#include "core/tensor/image.h"
#include "gpu/image/batch.h"

namespace navtalk {

enum class Interpolation { linear, lanczos4 };

// The destination's size says the scale; the same size is a copy.
void resize(ConstImageView source, ImageView destination, Interpolation interpolation);
void resize(ConstBatchView source, BatchView destination, Interpolation interpolation);

// Only `part` (non-empty, inside width x height) of the resize to width x height; the destination
// has the part's size.
void resize_part(ConstImageView source, int width, int height, const Box& part,
                 ImageView destination, Interpolation interpolation);

}  // namespace navtalk
