// The number formats of stored tensors: names and sizes.
#include <array>

#include "core/checkpoint/checkpoint.h"
#include "core/checkpoint/stored_tensor.h"

namespace navtalk {
namespace {

struct Row {
  DType dtype;
  std::size_t bytes;
  std::string_view name;
};

constexpr std::array k_dtypes{
    Row{DType::f64, 8, "F64"},      Row{DType::f32, 4, "F32"},    Row{DType::f16, 2, "F16"},
    Row{DType::bf16, 2, "BF16"},    Row{DType::i64, 8, "I64"},    Row{DType::i32, 4, "I32"},
    Row{DType::i16, 2, "I16"},      Row{DType::i8, 1, "I8"},      Row{DType::u8, 1, "U8"},
    Row{DType::boolean, 1, "BOOL"}, Row{DType::other, 0, "other"}};

const Row& row(DType dtype) { return k_dtypes[static_cast<std::size_t>(dtype)]; }

}  // namespace

std::size_t item_size(DType dtype) { return row(dtype).bytes; }
std::string_view name(DType dtype) { return row(dtype).name; }

DType dtype_named(std::string_view spelling) {
  for (const Row& row : k_dtypes) {
    if (row.name == spelling) return row.dtype;
  }
  return DType::other;
}

std::string_view name(Container container) {
  switch (container) {
    case Container::safetensors:
      return "safetensors";
    case Container::torch_zip:
      return "torch zip";
    case Container::torch_legacy:
      return "torch legacy";
  }
  return "?";
}

}  // namespace navtalk
