// What the few globals mean that a restricted unpickler gives a meaning to, none of which runs
// code:
//
//   collections OrderedDict                                     a dict
//   torch._utils _rebuild_tensor, _rebuild_tensor_v2, _v3       a tensor
//   torch._utils _rebuild_parameter, torch.nn.parameter Parameter   their first argument
//   torch Size                                                  a tuple
//   torch XStorage, torch.cuda XStorage, torch.storage UntypedStorage   the dtype of a storage
//   _codecs encode                                              bytes
//   numpy dtype; numpy.core.multiarray scalar, _reconstruct; numpy.core.numeric _frombuffer
//                                                               a number or an array
//
// Every other global yields an opaque node.
#pragma once

#include <cstddef>

#include "core/checkpoint/pickle/pickle_graph.h"

namespace navtalk {

class PickleSymbols {
 public:
  explicit PickleSymbols(PickleGraph& graph) : graph_(graph) {}

  // Items that reduce() may copy because of these arguments.
  std::size_t cost(NodeId arguments) const;
  // callable(*arguments). Error{invalid} when callable is not a symbol, or a known one is misused.
  NodeId reduce(NodeId callable, NodeId arguments);
  // object.__setstate__(state)
  void build(NodeId object, NodeId state);
  // The storage that a persistent id names.
  NodeId persistent(NodeId id);
  void require_callable(NodeId callable) const;

 private:
  using Items = std::vector<NodeId>;

  NodeId add(Node node);
  NodeId opaque() { return add({.kind = NodeKind::opaque}); }
  NodeId torch(std::string_view name, const Items& arguments);
  NodeId numpy(std::string_view name, const Items& arguments);
  NodeId ordered_dict(const Items& arguments);
  NodeId tensor(const Items& arguments, bool typed);
  NodeId encoded(const Items& arguments);
  NodeId numpy_dtype(const Items& arguments);
  NodeId numpy_scalar(const Items& arguments);
  NodeId numpy_array(PickleArray array);
  void build_dtype(PickleDtype& dtype, const Items& state) const;
  void build_array(PickleArray& array, const Items& state) const;

  const Node& argument(const Items& arguments, std::size_t index, NodeKind kind) const;
  Shape dimensions(NodeId sequence) const;

  PickleGraph& graph_;
};

}  // namespace navtalk
