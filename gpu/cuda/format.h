// What the values of a map in device memory are. Arithmetic on them is fp32.
#pragma once

#include <cstddef>

namespace navtalk::cuda {

enum class Format { fp32, fp16 };
constexpr std::size_t item_size(Format format) { return format == Format::fp32 ? 4 : 2; }

}  // namespace navtalk::cuda
