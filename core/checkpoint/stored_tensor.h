// What the three container readers have in common: each turns a file's bytes into a list of tensors
// that point into those bytes. They throw Error{invalid} without the file's name, which
// Checkpoint::open adds, and never look outside the span.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/checkpoint/checkpoint.h"

namespace navtalk {

inline constexpr std::uint64_t k_max_checkpoint_bytes = std::uint64_t{16} << 30;
inline constexpr std::size_t k_max_rank = 8;

// A tensor is a strided view into a storage; offset and strides count elements. For dtype other
// only the name and the dtype's spelling mean anything.
struct StoredTensor {
  TensorInfo info;
  std::string dtype_spelling;  // as the file has it
  std::span<const std::byte> storage;
  std::int64_t offset = 0;
  Shape strides;
  bool swapped = false;  // the file's byte order is not this machine's
};

struct CheckpointContents {
  Container container = Container::safetensors;
  std::vector<StoredTensor> tensors;
  std::map<std::string, std::string> metadata;
};

CheckpointContents read_safetensors(std::span<const std::byte> file);
CheckpointContents read_torch_zip(std::span<const std::byte> file);
CheckpointContents read_torch_legacy(std::span<const std::byte> file);
// Tells the container by its first bytes and calls one of the above.
CheckpointContents read_checkpoint(std::span<const std::byte> file);

// Bytes of a dense tensor of this shape; Error{invalid} when a dimension is negative, the rank is
// above k_max_rank, or the product exceeds k_max_checkpoint_bytes.
std::uint64_t dense_bytes(const Shape& shape, std::size_t item_size);
Shape dense_strides(const Shape& shape);
bool is_dense(const Shape& shape, const Shape& strides);
// Error{invalid} unless every element of the view lies within its storage.
void check_view(const StoredTensor& tensor);

DType dtype_named(std::string_view spelling);  // safetensors' spelling; DType::other when unknown

}  // namespace navtalk
