// How a PNG or JPEG file says that its picture must be turned: the orientation in its EXIF data, in the
// chunk eXIf or the segment APP1. FFmpeg does not see these data (metadata.h). Private to core/media.
#pragma once

#include <cstdint>
#include <span>

#include "core/media/decode/orientation.h"

namespace navtalk::media {

// No turn where there are no such data before the pixels, or none that can be understood.
Orientation png_orientation(std::span<const std::uint8_t> file);
Orientation jpeg_orientation(std::span<const std::uint8_t> file);

}  // namespace navtalk::media
