// One compressed picture, a whole file in memory, to an upright BGR image. Private to core/media.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "core/media/limits.h"
#include "core/tensor/image.h"

namespace navtalk::media {

// PNG, JPEG, BMP or WebP by its first bytes. Alpha is dropped, 16 bits are cut to the upper 8, and a
// PNG or JPEG is turned as its EXIF orientation says. Error{invalid} names `name`; one
// that exceeds the limits is refused before its pixels are decoded.
Image decode_picture(std::span<const std::uint8_t> bytes, const std::string& name,
                     const MediaLimits& limits);

}  // namespace navtalk::media
