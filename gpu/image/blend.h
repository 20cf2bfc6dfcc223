// Paste through a mask. Single-threaded and re-entrant.
#pragma once

#include "core/tensor/image.h"
#include "gpu/image/batch.h"

namespace navtalk {

// base = (base * (255 - mask) + overlay * mask) / 255 in place, rounded exactly, as Pillow's paste
// does. The mask has one channel; all three have one size; overlay and base have the same channels
// and do not overlap.
void blend(ImageView base, ConstImageView overlay, ConstImageView mask);
void blend(BatchView base, ConstBatchView overlay, ConstBatchView mask);

}  // namespace navtalk
