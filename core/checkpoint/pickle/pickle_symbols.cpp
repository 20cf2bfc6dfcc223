#include "core/checkpoint/pickle/pickle_symbols.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/base/error.h"
#include "core/checkpoint/refuse.h"
#include "core/checkpoint/stored_tensor.h"

namespace navtalk {
namespace {

constexpr std::array<std::string_view, 3> k_torch_modules{"torch", "torch._utils",
                                                          "torch.nn.parameter"};
constexpr std::array<std::string_view, 5> k_numpy_modules{
    "numpy", "numpy.core.multiarray", "numpy._core.multiarray", "numpy.core.numeric",
    "numpy._core.numeric"};  // NumPy 2 spells core _core

template <std::size_t count>
bool is_one_of(std::string_view text, const std::array<std::string_view, count>& texts) {
  return std::find(texts.begin(), texts.end(), text) != texts.end();
}

struct StorageType {
  std::string_view name;
  DType dtype;
  std::size_t bytes;
};
constexpr std::array k_storage_types{StorageType{"FloatStorage", DType::f32, 4},
                                     StorageType{"DoubleStorage", DType::f64, 8},
                                     StorageType{"HalfStorage", DType::f16, 2},
                                     StorageType{"BFloat16Storage", DType::bf16, 2},
                                     StorageType{"LongStorage", DType::i64, 8},
                                     StorageType{"IntStorage", DType::i32, 4},
                                     StorageType{"ShortStorage", DType::i16, 2},
                                     StorageType{"CharStorage", DType::i8, 1},
                                     StorageType{"ByteStorage", DType::u8, 1},
                                     StorageType{"BoolStorage", DType::boolean, 1},
                                     StorageType{"UntypedStorage", DType::u8, 1},
                                     StorageType{"ComplexFloatStorage", DType::other, 8},
                                     StorageType{"ComplexDoubleStorage", DType::other, 16},
                                     StorageType{"QInt8Storage", DType::other, 1},
                                     StorageType{"QUInt8Storage", DType::other, 1},
                                     StorageType{"QInt32Storage", DType::other, 4}};

StorageType storage_type(const PickleSymbol& symbol) {
  const bool torch =
      symbol.module == "torch" || symbol.module == "torch.cuda" || symbol.module == "torch.storage";
  for (const StorageType& type : k_storage_types) {
    if (torch && type.name == symbol.name) return type;
  }
  return {symbol.name, DType::other, 0};
}

}  // namespace

NodeId PickleSymbols::add(Node node) {
  graph_.nodes.push_back(std::move(node));
  return static_cast<NodeId>(graph_.nodes.size() - 1);
}

std::size_t PickleSymbols::cost(NodeId arguments) const {
  std::size_t items = 0;
  for (const NodeId id : graph_[arguments].items)
    items += graph_[id].items.size() + graph_[id].text.size() / 16;
  return graph_[arguments].items.size() + items;
}

void PickleSymbols::require_callable(NodeId callable) const {
  const NodeKind kind = graph_[callable].kind;
  if (kind != NodeKind::symbol && kind != NodeKind::opaque)
    refuse("a value is called that is not a global");
}

const Node& PickleSymbols::argument(const Items& arguments, std::size_t index,
                                    NodeKind kind) const {
  if (index >= arguments.size()) refuse(fmt::format("argument {} is missing", index));
  const Node& node = graph_[arguments[index]];
  if (node.kind != kind) refuse(fmt::format("argument {} is of the wrong kind", index));
  return node;
}

NodeId PickleSymbols::reduce(NodeId callable, NodeId arguments) {
  require_callable(callable);
  if (graph_[arguments].kind != NodeKind::tuple) refuse("arguments that are not a tuple");
  if (graph_[callable].kind == NodeKind::opaque) return opaque();
  const PickleSymbol symbol = graph_.symbol(graph_[callable]);
  const Items items = graph_[arguments].items;
  try {
    if (symbol.module == "collections" && symbol.name == "OrderedDict") return ordered_dict(items);
    if (symbol.module == "_codecs" && symbol.name == "encode") return encoded(items);
    if (symbol.module == "__builtin__" && symbol.name == "bytes" && items.empty())
      return add({.kind = NodeKind::bytes});  // how protocol 2 stores empty bytes
    if (is_one_of(symbol.module, k_torch_modules)) return torch(symbol.name, items);
    if (is_one_of(symbol.module, k_numpy_modules)) return numpy(symbol.name, items);
  } catch (const Error& error) {
    throw error.within(fmt::format("{}.{}", symbol.module, symbol.name));
  }
  return opaque();
}

NodeId PickleSymbols::torch(std::string_view name, const Items& arguments) {
  if (name == "_rebuild_tensor" || name == "_rebuild_tensor_v2") return tensor(arguments, true);
  if (name == "_rebuild_tensor_v3") return tensor(arguments, false);
  const bool first = name == "_rebuild_parameter" || name == "_rebuild_parameter_with_state" ||
                     name == "Parameter";
  if (first && !arguments.empty()) return arguments[0];
  if (name == "Size" && arguments.size() == 1) return arguments[0];
  return opaque();
}

// Python 2 wrote the items as a list of pairs in the arguments; later versions set them one by one.
NodeId PickleSymbols::ordered_dict(const Items& arguments) {
  Node dict{.kind = NodeKind::dict};
  if (!arguments.empty()) {
    for (const NodeId id : argument(arguments, 0, NodeKind::list).items) {
      const Node& pair = graph_[id];
      const bool sequence = pair.kind == NodeKind::list || pair.kind == NodeKind::tuple;
      if (!sequence || pair.items.size() != 2) refuse("an item that is not a pair");
      dict.items.insert(dict.items.end(), pair.items.begin(), pair.items.end());
    }
  }
  return add(std::move(dict));
}

// (storage, offset, size, strides[, requires_grad, hooks[, dtype of untyped bytes]])
NodeId PickleSymbols::tensor(const Items& arguments, bool typed) {
  argument(arguments, 0, NodeKind::storage);
  if (arguments.size() < 4) refuse("too few arguments");
  PickleTensor tensor{.storage = arguments[0],
                      .offset = argument(arguments, 1, NodeKind::integer).integer,
                      .shape = dimensions(arguments[2]),
                      .strides = dimensions(arguments[3]),
                      .other_dtype = {}};
  if (!typed) {
    const Node& dtype = argument(arguments, 6, NodeKind::symbol);
    tensor.other_dtype = graph_.symbol(dtype).name;
  }
  graph_.tensors.push_back(std::move(tensor));
  const auto index = static_cast<std::int64_t>(graph_.tensors.size() - 1);
  return add({.kind = NodeKind::tensor, .integer = index});
}

Shape PickleSymbols::dimensions(NodeId sequence) const {
  const Node& node = graph_[sequence];
  if (node.kind != NodeKind::tuple && node.kind != NodeKind::list)
    refuse("a shape that is not a tuple");
  if (node.items.size() > k_max_rank)
    refuse(fmt::format("{} dimensions are more than {}", node.items.size(), k_max_rank));
  Shape shape;
  for (const NodeId id : node.items) {
    if (graph_[id].kind != NodeKind::integer) refuse("a dimension that is not an integer");
    shape.push_back(graph_[id].integer);
  }
  return shape;
}

// How protocol 2 stores bytes: a string of the code points 0 to 255.
NodeId PickleSymbols::encoded(const Items& arguments) {
  const std::string_view text = argument(arguments, 0, NodeKind::string).text;
  const std::string_view codec = argument(arguments, 1, NodeKind::string).text;
  if (codec != "latin1" && codec != "latin-1") return opaque();
  std::string bytes;
  bytes.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto lead = static_cast<unsigned char>(text[i]);
    if (lead < 0x80) {
      bytes.push_back(text[i]);
    } else if ((lead == 0xC2 || lead == 0xC3) && i + 1 < text.size()) {
      const auto tail = static_cast<unsigned char>(text[++i]);
      bytes.push_back(static_cast<char>(((lead & 0x03U) << 6U) | (tail & 0x3FU)));
    } else {
      refuse("a character that latin-1 does not have");
    }
  }
  graph_.decoded.push_back(std::move(bytes));
  return add({.kind = NodeKind::bytes, .text = graph_.decoded.back()});
}

// ('storage', type, key, location, count[, view of a legacy file])
NodeId PickleSymbols::persistent(NodeId id) {
  if (graph_[id].kind != NodeKind::tuple) refuse("a persistent id that is not a tuple");
  const Items& items = graph_[id].items;
  if (argument(items, 0, NodeKind::string).text != "storage")
    refuse("a persistent id of no storage");
  const Node& symbol = argument(items, 1, NodeKind::symbol);
  const StorageType type = storage_type(graph_.symbol(symbol));
  PickleStorage storage{.dtype = type.dtype,
                        .item_bytes = type.bytes,
                        .type = type.name,
                        .key = argument(items, 2, NodeKind::string).text,
                        .count = argument(items, 4, NodeKind::integer).integer,
                        .view_offset = 0,
                        .view_count = 0};
  storage.view_count = storage.count;
  if (items.size() > 5 && graph_[items[5]].kind != NodeKind::none) {
    const Items& view = argument(items, 5, NodeKind::tuple).items;
    storage.view_offset = argument(view, 1, NodeKind::integer).integer;
    storage.view_count = argument(view, 2, NodeKind::integer).integer;
  }
  std::int64_t end = 0;
  if (storage.count < 0 || storage.view_offset < 0 || storage.view_count < 0 ||
      __builtin_add_overflow(storage.view_offset, storage.view_count, &end) || end > storage.count)
    refuse(fmt::format("storage {} has an impossible size", storage.key));
  graph_.storages.push_back(storage);
  const auto index = static_cast<std::int64_t>(graph_.storages.size() - 1);
  return add({.kind = NodeKind::storage, .integer = index});
}

void PickleSymbols::build(NodeId object, NodeId state) {
  const Node& node = graph_[object];
  const auto index = static_cast<std::size_t>(node.integer);
  if (node.kind == NodeKind::dtype) {
    if (graph_[state].kind != NodeKind::tuple) refuse("a numpy dtype without its state");
    build_dtype(graph_.dtypes[index], graph_[state].items);
  } else if (node.kind == NodeKind::array) {
    if (graph_[state].kind != NodeKind::tuple) refuse("a numpy array without its state");
    build_array(graph_.arrays[index], graph_[state].items);
  } else if (node.kind != NodeKind::dict && node.kind != NodeKind::opaque &&
             node.kind != NodeKind::tensor) {
    refuse("state for a value that has none");
  }
}

}  // namespace navtalk
