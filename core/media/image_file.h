// Still pictures: PNG, JPEG, BMP, WebP in; PNG and JPEG out. BGR, 8 bit.
#pragma once

#include <filesystem>

#include "core/media/limits.h"
#include "core/tensor/image.h"

namespace navtalk {

// Alpha is dropped, 16 bits are cut to the upper 8; a PNG or JPEG is turned upright as its EXIF
// data say. Error{not_found}; Error{invalid} for what is damaged, cut off, larger than the limits or no
// such picture.
Image read_image(const std::filesystem::path& path, const MediaLimits& limits = {});
// BGR, or grey where the image has one channel. Error{failed} with the reason.
void write_png(const std::filesystem::path& path, ConstImageView image);
// BGR, in high quality. Error{failed} with the reason.
void write_jpeg(const std::filesystem::path& path, ConstImageView image);

}  // namespace navtalk
