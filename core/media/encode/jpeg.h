// A picture as the bytes of a JPEG file. Private to core/media.
#pragma once

#include <cstdint>
#include <vector>

#include "core/tensor/image.h"

namespace navtalk::media {

// BGR, in high quality and without subsampled colours. Error{failed} with FFmpeg's reason.
std::vector<std::uint8_t> encode_jpeg(ConstImageView image);

}  // namespace navtalk::media
