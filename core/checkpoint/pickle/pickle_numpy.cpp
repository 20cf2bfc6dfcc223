// numpy's numbers and arrays among PickleSymbols.
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/checkpoint/pickle/numpy_number.h"
#include "core/checkpoint/pickle/pickle_symbols.h"
#include "core/checkpoint/refuse.h"
#include "core/checkpoint/stored_tensor.h"

namespace navtalk {
namespace {

void check_array(const PickleGraph& graph, const PickleArray& array) {
  const PickleDtype& dtype = graph.dtype(graph[array.dtype]);
  const std::uint64_t wanted = dense_bytes(array.shape, dtype.bytes);
  if (array.data.size() != wanted)
    refuse(fmt::format("an array of {} bytes where its shape needs {}", array.data.size(), wanted));
}

}  // namespace

NodeId PickleSymbols::numpy(std::string_view name, const Items& arguments) {
  if (name == "dtype") return numpy_dtype(arguments);
  if (name == "scalar") return numpy_scalar(arguments);
  if (name == "_reconstruct") return numpy_array({});
  if (name == "_frombuffer") {
    const std::string_view data = argument(arguments, 0, NodeKind::bytes).text;
    if (arguments.size() < 4 || graph_[arguments[1]].kind != NodeKind::dtype) return opaque();
    const bool fortran = argument(arguments, 3, NodeKind::string).text == "F";
    return numpy_array({arguments[1], dimensions(arguments[2]), fortran, data, true});
  }
  return opaque();
}

// 'f4', 'i8', 'b1', ...: what is not such a number stays opaque, and so does everything made of it.
NodeId PickleSymbols::numpy_dtype(const Items& arguments) {
  const std::string_view code = argument(arguments, 0, NodeKind::string).text;
  if (code.size() != 2) return opaque();
  const char kind = code[0];
  const auto bytes = static_cast<std::size_t>(code[1] - '0');
  const bool power = bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
  const bool number =
      (kind == 'i' || kind == 'u') || (kind == 'f' && bytes > 1) || (kind == 'b' && bytes == 1);
  if (!power || !number) return opaque();
  graph_.dtypes.push_back({.kind = kind, .bytes = bytes, .big_endian = false});
  const auto index = static_cast<std::int64_t>(graph_.dtypes.size() - 1);
  return add({.kind = NodeKind::dtype, .integer = index});
}

// (version, byte order, ...)
void PickleSymbols::build_dtype(PickleDtype& dtype, const Items& state) const {
  dtype.big_endian = argument(state, 1, NodeKind::string).text == ">";
}

NodeId PickleSymbols::numpy_scalar(const Items& arguments) {
  if (arguments.empty() || graph_[arguments[0]].kind != NodeKind::dtype) return opaque();
  const PickleDtype& dtype = graph_.dtype(graph_[arguments[0]]);
  const std::string_view data = argument(arguments, 1, NodeKind::bytes).text;
  if (data.size() != dtype.bytes) refuse("a number of the wrong size");
  return add(number_node(dtype, data));
}

NodeId PickleSymbols::numpy_array(PickleArray array) {
  if (array.filled) check_array(graph_, array);
  graph_.arrays.push_back(std::move(array));
  const auto index = static_cast<std::int64_t>(graph_.arrays.size() - 1);
  return add({.kind = NodeKind::array, .integer = index});
}

// (1, shape, dtype, fortran order, bytes)
void PickleSymbols::build_array(PickleArray& array, const Items& state) const {
  if (state.size() != 5) refuse("a numpy array's state of another version");
  if (graph_[state[2]].kind != NodeKind::dtype) return;  // objects, records: never filled
  array = {.dtype = state[2],
           .shape = dimensions(state[1]),
           .fortran_order = argument(state, 3, NodeKind::boolean).integer != 0,
           .data = argument(state, 4, NodeKind::bytes).text,
           .filled = true};
  check_array(graph_, array);
}

}  // namespace navtalk
