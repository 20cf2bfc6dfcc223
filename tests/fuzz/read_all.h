// What the fuzzers of the checkpoint containers do with a file: read it, then every tensor of it.
#pragma once

#include <cstdint>
#include <span>

#include "core/base/error.h"
#include "core/checkpoint/materialize.h"
#include "core/checkpoint/stored_tensor.h"

namespace navtalk {

// More would only show how fast memory is.
inline constexpr std::uint64_t k_fuzzed_bytes = std::uint64_t{1} << 20;

inline void read_all(CheckpointContents (*read)(std::span<const std::byte>),
                     std::span<const std::uint8_t> file) {
  try {
    for (const StoredTensor& tensor : read(std::as_bytes(file)).tensors) {
      try {
        const std::uint64_t bytes = dense_bytes(tensor.info.shape, item_size(tensor.info.dtype));
        if (bytes > k_fuzzed_bytes) continue;
        std::vector<std::byte> out(bytes);
        copy_bytes(tensor, out);
        if (const auto mapped = mapped_bytes(tensor); mapped && mapped->size() != bytes)
          __builtin_trap();
        if (tensor.info.dtype < DType::i64)
          as_f32(tensor);
        else if (tensor.info.dtype != DType::boolean)
          as_i64(tensor);
      } catch (const Error&) {
        continue;  // a tensor that cannot be read does not spoil the others
      }
    }
  } catch (const Error&) {
    return;  // refused, as it should be
  }
}

}  // namespace navtalk
