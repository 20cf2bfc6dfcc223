// How a PNG file says that its picture must be turned: the orientation in its eXIf chunk. FFmpeg
// reads that of a JPEG alone. Private to core/media.
#pragma once

#include <cstdint>
#include <span>

#include "core/media/decode/orientation.h"

namespace navtalk::media {

// No turn where there is no such chunk before the pixels, or none that can be understood.
Orientation png_orientation(std::span<const std::uint8_t> file);

}  // namespace navtalk::media
