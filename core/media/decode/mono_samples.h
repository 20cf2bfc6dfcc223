// The samples of FFmpeg's frames as mono floats in [-1, 1). Private to core/media.
#pragma once

#include <vector>

#include "core/media/ffmpeg.h"

namespace navtalk::media {

// Appends the mean over channels, summed in float32 in channel order. Error{invalid} for samples that are not numbers or
// far too large, and for a format that is not known.
void append_mono(const AVFrame& frame, std::vector<float>& mono);

}  // namespace navtalk::media
