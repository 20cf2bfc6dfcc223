// Still pictures: PNG, JPEG, BMP, WebP in; PNG out. BGR, 8 bit.
#pragma once

#include <filesystem>

#include "core/tensor/image.h"

namespace navtalk {

Image read_image(const std::filesystem::path& path);  // Error{not_found}, Error{invalid}
void write_png(const std::filesystem::path& path,
               ConstImageView image);  // Error{failed} with the reason

}  // namespace navtalk
