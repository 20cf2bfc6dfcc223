// From a stored tensor to dense values in memory. All throw Error{invalid} for a dtype that they do
// not read, and for a view that repeats a small storage into a large array.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "core/checkpoint/stored_tensor.h"
#include "core/tensor/ndarray.h"

namespace navtalk {

std::optional<std::span<const std::byte>> mapped_bytes(const StoredTensor& tensor);
void copy_bytes(const StoredTensor& tensor, std::span<std::byte> out);
NdArray<float> as_f32(const StoredTensor& tensor);
NdArray<std::int64_t> as_i64(const StoredTensor& tensor);
NdArray<std::uint8_t> as_u8(const StoredTensor& tensor);

}  // namespace navtalk
