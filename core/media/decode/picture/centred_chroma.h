// Colour of JPEG and WebP pictures, which is sampled in the middle of the pixels that share it, to
// BGR. The arithmetic is that of the two formats' own libraries. Private to core/media.
#pragma once

#include "core/media/ffmpeg.h"
#include "core/tensor/image.h"

namespace navtalk::media {

// Whether the frame is 8-bit YUV in planes, with a colour sample for one or two pixels each way.
bool has_centred_chroma(const AVFrame& frame);
// BT.601; full range where the frame says so. Both have one size.
void centred_chroma_to_bgr(const AVFrame& frame, ImageView bgr);

}  // namespace navtalk::media
