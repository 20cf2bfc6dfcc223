#include "core/checkpoint/materialize.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "core/base/error.h"
#include "core/checkpoint/half.h"
#include "core/checkpoint/refuse.h"

namespace navtalk {
namespace {

constexpr std::uint64_t k_max_repeated_bytes = std::uint64_t{64} << 20;

[[noreturn]] void fail_dtype(const StoredTensor& tensor, std::string_view wanted) {
  refuse(fmt::format("has dtype {}, which cannot be read as {}", tensor.dtype_spelling, wanted));
}

// A stride of 0 makes a few bytes look like any size; nothing that large is kept in that way.
std::uint64_t checked_bytes(const StoredTensor& tensor) {
  if (tensor.info.dtype == DType::other)
    refuse(fmt::format("has dtype {}, which navtalk does not read", tensor.dtype_spelling));
  const std::uint64_t bytes = dense_bytes(tensor.info.shape, item_size(tensor.info.dtype));
  if (bytes > k_max_repeated_bytes && bytes > tensor.storage.size())
    refuse(fmt::format("shape {} with strides {} blows {} bytes up to {}", tensor.info.shape,
                       tensor.strides, tensor.storage.size(), bytes));
  return bytes;
}

const std::byte* first_byte(const StoredTensor& tensor) {
  return tensor.storage.data() +
         static_cast<std::size_t>(tensor.offset) * item_size(tensor.info.dtype);
}

// Copies row after row of the last axis, counting through the others like an odometer.
void gather(const StoredTensor& tensor, std::size_t item, std::byte* out) {
  const Shape& shape = tensor.info.shape;
  const std::size_t axes = shape.size();
  const std::int64_t row = shape.back();
  // The stride of an axis of length 1 means nothing and may be anything.
  const std::int64_t step = row == 1 ? 0 : tensor.strides.back() * static_cast<std::int64_t>(item);
  Shape index(axes, 0);
  while (true) {
    std::int64_t start = 0;
    for (std::size_t axis = 0; axis + 1 < axes; ++axis) start += index[axis] * tensor.strides[axis];
    const std::byte* from = first_byte(tensor) + start * static_cast<std::int64_t>(item);
    for (std::int64_t i = 0; i < row; ++i, out += item) std::memcpy(out, from + i * step, item);
    std::size_t axis = axes - 1;
    while (axis > 0 && ++index[axis - 1] == shape[axis - 1]) index[--axis] = 0;
    if (axis == 0) return;
  }
}

void swap_bytes(std::span<std::byte> values, std::size_t item) {
  for (std::size_t i = 0; i < values.size(); i += item)
    std::reverse(values.data() + i, values.data() + i + item);
}

template <class Stored>
std::vector<Stored> dense(const StoredTensor& tensor) {
  std::vector<Stored> values(checked_bytes(tensor) / sizeof(Stored));
  copy_bytes(tensor, std::as_writable_bytes(std::span(values)));
  return values;
}

// The values converted one by one, straight from the mapping where that is possible.
template <class Stored, class Out, class Convert>
NdArray<Out> converted(const StoredTensor& tensor, Convert convert) {
  const auto bytes = mapped_bytes(tensor);
  const std::vector<Stored> copy = bytes ? std::vector<Stored>() : dense<Stored>(tensor);
  const std::size_t count = bytes ? bytes->size() / sizeof(Stored) : copy.size();
  const Stored* from = bytes ? reinterpret_cast<const Stored*>(bytes->data()) : copy.data();
  NdArray<Out> out(tensor.info.shape);
  std::transform(from, from + count, out.values.begin(), convert);
  return out;
}

template <class Stored, class Out>
NdArray<Out> cast(const StoredTensor& tensor) {
  return converted<Stored, Out>(tensor, [](Stored value) { return static_cast<Out>(value); });
}

}  // namespace

std::optional<std::span<const std::byte>> mapped_bytes(const StoredTensor& tensor) {
  const std::uint64_t bytes = checked_bytes(tensor);
  if (tensor.swapped || !is_dense(tensor.info.shape, tensor.strides)) return std::nullopt;
  if (bytes == 0) return std::span<const std::byte>();
  const std::byte* first = first_byte(tensor);
  if (std::bit_cast<std::uintptr_t>(first) % item_size(tensor.info.dtype) != 0) return std::nullopt;
  return std::span(first, bytes);
}

void copy_bytes(const StoredTensor& tensor, std::span<std::byte> out) {
  const std::uint64_t bytes = checked_bytes(tensor);
  const std::size_t item = item_size(tensor.info.dtype);
  if (out.size() != bytes) refuse(fmt::format("{} bytes asked for, it has {}", out.size(), bytes));
  if (bytes == 0) return;
  if (is_dense(tensor.info.shape, tensor.strides))
    std::memcpy(out.data(), first_byte(tensor), bytes);
  else
    gather(tensor, item, out.data());
  if (tensor.swapped) swap_bytes(out, item);
}

NdArray<float> as_f32(const StoredTensor& tensor) {
  switch (tensor.info.dtype) {
    case DType::f32:
      return {tensor.info.shape, dense<float>(tensor)};
    case DType::f64:
      return cast<double, float>(tensor);
    case DType::f16:
      return converted<std::uint16_t, float>(tensor, half_to_float);
    case DType::bf16:
      return converted<std::uint16_t, float>(tensor, bf16_to_float);
    default:
      fail_dtype(tensor, "floating point");
  }
}

NdArray<std::int64_t> as_i64(const StoredTensor& tensor) {
  switch (tensor.info.dtype) {
    case DType::i64:
      return {tensor.info.shape, dense<std::int64_t>(tensor)};
    case DType::i32:
      return cast<std::int32_t, std::int64_t>(tensor);
    case DType::i16:
      return cast<std::int16_t, std::int64_t>(tensor);
    case DType::i8:
      return cast<std::int8_t, std::int64_t>(tensor);
    case DType::u8:
      return cast<std::uint8_t, std::int64_t>(tensor);
    default:
      fail_dtype(tensor, "integers");
  }
}

NdArray<std::uint8_t> as_u8(const StoredTensor& tensor) {
  if (tensor.info.dtype != DType::u8) fail_dtype(tensor, "bytes");
  return {tensor.info.shape, dense<std::uint8_t>(tensor)};
}

}  // namespace navtalk
