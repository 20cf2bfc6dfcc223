// What an unpickled stream holds, as a graph of inert nodes. Containers are shared by reference, as
// in Python: one node may stand in several lists, and a list may contain itself, so whoever walks
// the graph bounds depth and visits. Texts point into the pickled bytes, which must stay alive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/checkpoint/checkpoint.h"

namespace navtalk {

using NodeId = std::uint32_t;

enum class NodeKind : std::uint8_t {
  none,
  boolean,
  integer,
  real,
  string,  // UTF-8, perhaps with surrogate escapes
  bytes,
  list,
  tuple,
  set,
  dict,     // items alternate between key and value
  symbol,   // a global: module and name, never resolved to anything
  dtype,    // numpy's
  array,    // numpy's
  storage,  // torch's: a persistent id
  tensor,   // torch's: a view of a storage
  opaque,   // an object of a class that has no meaning here; nothing is kept of it
};

struct Node {
  NodeKind kind = NodeKind::none;
  std::int64_t integer = 0;  // boolean, integer; an index into the side tables below for symbol,
                             // dtype, array, storage and tensor
  double real = 0;
  std::string_view text{};      // string, bytes
  std::vector<NodeId> items{};  // list, tuple, set, dict
};

struct PickleSymbol {
  std::string_view module{}, name{};
};
struct PickleDtype {
  char kind = 'i';  // numpy's: b, i, u, f
  std::size_t bytes = 0;
  bool big_endian = false;
};
struct PickleArray {
  NodeId dtype = 0;
  Shape shape{};
  bool fortran_order = false;
  std::string_view data{};
  bool filled = false;
};
struct PickleStorage {
  DType dtype = DType::other;
  std::size_t item_bytes = 0;  // 0 when not even the size is known
  std::string_view type{}, key{};
  std::int64_t count = 0;                        // elements of the (root) storage
  std::int64_t view_offset = 0, view_count = 0;  // a legacy view: elements; else all of it
};
struct PickleTensor {
  NodeId storage = 0;
  std::int64_t offset = 0;
  Shape shape{}, strides{};
  std::string_view other_dtype{};  // not empty: the dtype that untyped bytes are to be read as
};

struct PickleGraph {
  NodeId root = 0;
  std::vector<Node> nodes;
  std::vector<PickleSymbol> symbols;
  std::vector<PickleDtype> dtypes;
  std::vector<PickleArray> arrays;
  std::vector<PickleStorage> storages;
  std::vector<PickleTensor> tensors;
  std::deque<std::string> decoded;  // texts that do not stand in the pickle as they are

  const Node& operator[](NodeId id) const { return nodes[id]; }
  // The row of a side table that a node of that kind stands for.
  const PickleSymbol& symbol(const Node& node) const { return symbols[index(node)]; }
  const PickleDtype& dtype(const Node& node) const { return dtypes[index(node)]; }
  const PickleArray& array(const Node& node) const { return arrays[index(node)]; }
  const PickleStorage& storage(const Node& node) const { return storages[index(node)]; }
  const PickleTensor& tensor(const Node& node) const { return tensors[index(node)]; }
  static std::size_t index(const Node& node) { return static_cast<std::size_t>(node.integer); }
};

}  // namespace navtalk
