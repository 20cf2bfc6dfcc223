#include "core/checkpoint/pickle/pickle.h"

#include <stdexcept>

#include "core/base/error.h"
#include "core/checkpoint/mapped_file.h"
#include "core/checkpoint/pickle/numpy_number.h"
#include "core/checkpoint/pickle/unpickler.h"

namespace navtalk {
namespace {

constexpr std::uint64_t k_max_file_bytes = std::uint64_t{64} << 20;

PickleValue::Kind kind_of(const PickleGraph& graph, const Node& node) {
  using Kind = PickleValue::Kind;
  switch (node.kind) {
    case NodeKind::none:
      return Kind::none;
    case NodeKind::boolean:
      return Kind::boolean;
    case NodeKind::integer:
      return Kind::integer;
    case NodeKind::real:
      return Kind::real;
    case NodeKind::string:
      return Kind::string;
    case NodeKind::bytes:
      return Kind::bytes;
    case NodeKind::list:
      return Kind::list;
    case NodeKind::tuple:
      return Kind::tuple;
    case NodeKind::set:
      return Kind::set;
    case NodeKind::dict:
      return Kind::dict;
    case NodeKind::array:
      return graph.array(node).filled ? Kind::array : Kind::other;
    default:
      return Kind::other;
  }
}

// The place in the data of the element at a row-major position.
std::size_t stored_position(const PickleArray& array, std::size_t position) {
  if (!array.fortran_order) return position;
  std::size_t stored = 0, step = element_count(array.shape);
  for (std::size_t axis = array.shape.size(); axis-- > 0;) {
    const auto dimension = static_cast<std::size_t>(array.shape[axis]);
    step /= dimension;
    stored += position % dimension * step;
    position /= dimension;
  }
  return stored;
}

template <class T, class Convert>
NdArray<T> numbers(const PickleGraph& graph, const PickleArray& array, Convert convert) {
  const PickleDtype& dtype = graph.dtype(graph[array.dtype]);
  NdArray<T> out(array.shape);
  for (std::size_t i = 0; i < out.values.size(); ++i) {
    const std::size_t at = stored_position(array, i) * dtype.bytes;
    out.values[i] = convert(number_node(dtype, array.data.substr(at, dtype.bytes)));
  }
  return out;
}

}  // namespace

PickleValue::Kind PickleValue::kind() const { return kind_of(*graph_, (*graph_)[node_]); }

std::optional<bool> PickleValue::boolean() const {
  if (kind() != Kind::boolean) return std::nullopt;
  return (*graph_)[node_].integer != 0;
}

std::optional<std::int64_t> PickleValue::integer() const {
  if (kind() != Kind::integer) return std::nullopt;
  return (*graph_)[node_].integer;
}

std::optional<double> PickleValue::real() const {
  if (kind() != Kind::real) return std::nullopt;
  return (*graph_)[node_].real;
}

std::optional<std::string_view> PickleValue::string() const {
  if (kind() != Kind::string) return std::nullopt;
  return (*graph_)[node_].text;
}

std::optional<std::string_view> PickleValue::bytes() const {
  if (kind() != Kind::bytes) return std::nullopt;
  return (*graph_)[node_].text;
}

std::optional<NdArray<double>> PickleValue::reals() const {
  if (kind() != Kind::array) return std::nullopt;
  return numbers<double>(*graph_, graph_->array((*graph_)[node_]), [](const Node& number) {
    return number.kind == NodeKind::real ? number.real : static_cast<double>(number.integer);
  });
}

std::optional<NdArray<std::int64_t>> PickleValue::integers() const {
  if (kind() != Kind::array) return std::nullopt;
  const PickleArray& array = graph_->array((*graph_)[node_]);
  const PickleDtype& dtype = graph_->dtype((*graph_)[array.dtype]);
  if (dtype.kind == 'f') return std::nullopt;
  return numbers<std::int64_t>(*graph_, array, [](const Node& number) { return number.integer; });
}

std::size_t PickleValue::size() const {
  const Node& node = (*graph_)[node_];
  return node.kind == NodeKind::dict ? node.items.size() / 2 : node.items.size();
}

PickleValue PickleValue::item(std::size_t index) const {
  const Node& node = (*graph_)[node_];
  return {*graph_, node.items.at(node.kind == NodeKind::dict ? 2 * index + 1 : index)};
}

PickleValue PickleValue::key(std::size_t index) const {
  const Node& node = (*graph_)[node_];
  if (node.kind != NodeKind::dict) throw std::out_of_range("a value without keys");
  return {*graph_, node.items.at(2 * index)};
}

std::optional<PickleValue> PickleValue::find(std::string_view wanted) const {
  if (kind() != Kind::dict) return std::nullopt;
  for (std::size_t i = size(); i-- > 0;) {
    if (key(i).string() == wanted) return item(i);
  }
  return std::nullopt;
}

struct Pickle::Impl {
  MappedFile file;
  PickleGraph graph;

  explicit Impl(MappedFile mapped) : file(std::move(mapped)), graph(unpickle_all(file.bytes())) {
    file.check();
  }
};

Pickle Pickle::open(const std::filesystem::path& path) {
  MappedFile file = MappedFile::open(path, k_max_file_bytes);
  try {
    return Pickle(std::make_unique<Impl>(std::move(file)));
  } catch (const Error& error) {
    throw error.within(path.native());
  }
}

Pickle::Pickle(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Pickle::Pickle(Pickle&&) noexcept = default;
Pickle& Pickle::operator=(Pickle&&) noexcept = default;
Pickle::~Pickle() = default;

PickleValue Pickle::root() const { return {impl_->graph, impl_->graph.root}; }

}  // namespace navtalk
