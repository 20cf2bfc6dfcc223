#include "core/checkpoint/stored_tensor.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/base/error.h"

namespace navtalk {
namespace {

bool is_empty(const Shape& shape) {
  return std::find(shape.begin(), shape.end(), 0) != shape.end();
}

}  // namespace

std::uint64_t dense_bytes(const Shape& shape, std::size_t item_size) {
  if (shape.size() > k_max_rank)
    throw Error(Code::invalid,
                fmt::format("{} dimensions are more than {}", shape.size(), k_max_rank));
  if (std::any_of(shape.begin(), shape.end(), [](std::int64_t d) { return d < 0; }))
    throw Error(Code::invalid, fmt::format("shape {} has a negative dimension", shape));
  if (is_empty(shape)) return 0;
  std::uint64_t bytes = std::max<std::size_t>(item_size, 1);  // an unknown dtype has size 0
  for (const std::int64_t dimension : shape) {
    if (__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(dimension), &bytes) ||
        bytes > k_max_checkpoint_bytes)
      throw Error(Code::invalid, fmt::format("shape {} is larger than any checkpoint", shape));
  }
  return item_size == 0 ? 0 : bytes;
}

Shape dense_strides(const Shape& shape) {
  Shape strides(shape.size(), 1);
  if (is_empty(shape)) return strides;
  for (std::size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

bool is_dense(const Shape& shape, const Shape& strides) {
  if (is_empty(shape)) return true;
  const Shape dense = dense_strides(shape);
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] != 1 && strides[i] != dense[i]) return false;
  }
  return true;
}

void check_view(const StoredTensor& tensor) {
  const Shape& shape = tensor.info.shape;
  const std::size_t bytes = item_size(tensor.info.dtype);
  if (tensor.strides.size() != shape.size())
    throw Error(Code::invalid,
                fmt::format("{} strides for {} dimensions", tensor.strides.size(), shape.size()));
  const std::uint64_t dense = dense_bytes(shape, bytes);
  std::int64_t last = tensor.offset;
  bool bad = last < 0;
  for (std::size_t i = 0; i < shape.size() && dense > 0; ++i) {
    std::int64_t reach = 0;
    bad |= tensor.strides[i] < 0 ||
           __builtin_mul_overflow(shape[i] - 1, tensor.strides[i], &reach) ||
           __builtin_add_overflow(last, reach, &last);
  }
  const auto elements = static_cast<std::int64_t>(tensor.storage.size() / bytes);
  if (bad || (dense > 0 ? last >= elements : last > elements))
    throw Error(Code::invalid,
                fmt::format("offset {}, shape {}, strides {} reach beyond its storage of {} values",
                            tensor.offset, shape, tensor.strides, elements));
}

}  // namespace navtalk
