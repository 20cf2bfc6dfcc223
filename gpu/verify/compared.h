// What the comparisons of all groups share.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/tensor/image.h"
#include "gpu/device/device.h"
#include "gpu/verify/difference.h"
#include "gpu/verify/golden_file.h"
#include "gpu/verify/verify.h"

namespace navtalk {

// Error{invalid} when the shapes differ.
template <class T>
auto compared(const GoldenFile& golden, std::string_view tensor, const NdArray<T>& computed,
              const NdArray<T>& expected) {
  const bool both_empty = computed.values.empty() && expected.values.empty();
  if (!both_empty && computed.shape != expected.shape)
    golden.fail(std::string(tensor) + " has the shape " + text(expected.shape) +
                ", navtalk computes " + text(computed.shape));
  return difference(std::span<const T>(computed.values), std::span<const T>(expected.values));
}

inline GroupResult in(Precision precision, GroupResult result) {
  result.computed_in = precision;
  return result;
}

// `shape`: [height,width] and more.
template <class Byte>
BasicImageView<Byte> picture(Byte* data, const Shape& shape, int channels) {
  const auto height = static_cast<int>(shape.at(0)), width = static_cast<int>(shape.at(1));
  return {data, width, height, channels, std::ptrdiff_t{channels} * width};
}

}  // namespace navtalk
