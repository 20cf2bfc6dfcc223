// NdArray<T>: a dense row-major array in host memory. The currency between libraries, so that no
// header that another folder includes needs torch. A value type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace navtalk {

using Shape = std::vector<std::int64_t>;

// The number of elements of a shape (1 for a scalar).
inline std::size_t element_count(const Shape& shape) {
  return std::accumulate(
      shape.begin(), shape.end(), std::size_t{1},
      [](std::size_t n, std::int64_t d) { return n * static_cast<std::size_t>(d); });
}

template <class T>
struct NdArray {
  Shape shape;
  std::vector<T> values;

  NdArray() = default;
  explicit NdArray(Shape s) : shape(std::move(s)), values(element_count(shape)) {}
  NdArray(Shape s, std::vector<T> v) : shape(std::move(s)), values(std::move(v)) {}

  std::int64_t dim(std::size_t axis) const { return shape.at(axis); }
  // Elements under one index of the first axis.
  std::size_t stride0() const {
    return shape.empty() || shape[0] == 0 ? 0 : values.size() / static_cast<std::size_t>(shape[0]);
  }
  T* row(std::int64_t i) { return values.data() + stride0() * static_cast<std::size_t>(i); }
  const T* row(std::int64_t i) const {
    return values.data() + stride0() * static_cast<std::size_t>(i);
  }

  bool operator==(const NdArray&) const = default;
};

}  // namespace navtalk
