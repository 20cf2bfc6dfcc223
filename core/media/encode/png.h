// A picture as the bytes of a PNG file. Private to core/media.
#pragma once

#include <cstdint>
#include <vector>

#include "core/tensor/image.h"

namespace navtalk::media {

// BGR or, with one channel, grey. Error{failed} with FFmpeg's reason.
std::vector<std::uint8_t> encode_png(ConstImageView image);

}  // namespace navtalk::media
