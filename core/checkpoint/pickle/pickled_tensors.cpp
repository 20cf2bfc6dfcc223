#include "core/checkpoint/pickle/pickled_tensors.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/checkpoint/refuse.h"

namespace navtalk {
namespace {

constexpr std::size_t k_max_levels = 64;
constexpr std::size_t k_max_visits = 1'000'000;
// One long key over many shared tensors would be repeated for each of them.
constexpr std::size_t k_max_name_bytes = 4096;
constexpr std::size_t k_max_names_bytes = std::size_t{64} << 20;

bool is_sequence(const Node& node) {
  return node.kind == NodeKind::list || node.kind == NodeKind::tuple;
}

class Walk {
 public:
  Walk(const PickleGraph& graph, const FindStorage& find_storage)
      : graph_(graph), find_storage_(find_storage) {}

  std::vector<StoredTensor> run() {
    const NodeId start = weights(graph_.root);
    const Node& root = graph_[start];
    if (root.kind != NodeKind::dict && root.kind != NodeKind::tensor && !is_sequence(root))
      refuse("holds a Python object and no dictionary or list of tensors; save its state_dict()");
    visit(start, root.kind == NodeKind::tensor ? "tensor" : "");
    return std::move(tensors_);
  }

 private:
  // What a training checkpoint keeps its weights under.
  NodeId weights(NodeId root) const {
    const std::vector<NodeId>& items = graph_[root].items;
    if (graph_[root].kind != NodeKind::dict) return root;
    for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
      const Node& key = graph_[items[i]];
      const bool named = key.kind == NodeKind::string && key.text == "state_dict";
      if (named && graph_[items[i + 1]].kind == NodeKind::dict) return items[i + 1];
    }
    return root;
  }

  void visit(NodeId id, const std::string& name) {
    if (++visits_ > k_max_visits) refuse(fmt::format("more than {} values", k_max_visits));
    const Node& node = graph_[id];
    if (node.kind == NodeKind::tensor) {
      names_bytes_ += name.size();
      if (names_bytes_ > k_max_names_bytes)
        refuse(fmt::format("its tensors' names take more than {} bytes", k_max_names_bytes));
      tensors_.push_back(stored(graph_.tensor(node), name));
      return;
    }
    if (node.kind != NodeKind::dict && !is_sequence(node)) return;
    if (std::find(path_.begin(), path_.end(), id) != path_.end()) return;  // contains itself
    if (path_.size() >= k_max_levels) refuse(fmt::format("more than {} levels", k_max_levels));
    path_.push_back(id);
    if (node.kind == NodeKind::dict)
      visit_dict(node, name);
    else
      for (std::size_t i = 0; i < node.items.size(); ++i)
        visit(node.items[i], joined(name, std::to_string(i)));
    path_.pop_back();
  }

  void visit_dict(const Node& node, const std::string& name) {
    for (std::size_t i = 0; i + 1 < node.items.size(); i += 2) {
      const Node& key = graph_[node.items[i]];
      if (key.kind == NodeKind::string)
        visit(node.items[i + 1], joined(name, key.text));
      else if (key.kind == NodeKind::integer)
        visit(node.items[i + 1], joined(name, std::to_string(key.integer)));
    }
  }

  static std::string joined(const std::string& name, std::string_view part) {
    if (name.size() + part.size() >= k_max_name_bytes)
      refuse(fmt::format("a tensor's name is longer than {} bytes", k_max_name_bytes));
    return name.empty() ? std::string(part) : fmt::format("{}.{}", name, part);
  }

  StoredTensor stored(const PickleTensor& view, const std::string& name) const {
    const PickleStorage& storage = graph_.storage(graph_[view.storage]);
    StoredTensor tensor;
    tensor.info = {name, storage.dtype, view.shape};
    tensor.dtype_spelling = storage.type;
    if (!view.other_dtype.empty()) {
      tensor.info.dtype = DType::other;
      tensor.dtype_spelling = view.other_dtype;
    }
    if (tensor.info.dtype == DType::other) return tensor;
    try {
      const std::size_t bytes = storage.item_bytes;
      tensor.storage =
          find_storage_(storage).subspan(static_cast<std::size_t>(storage.view_offset) * bytes,
                                         static_cast<std::size_t>(storage.view_count) * bytes);
      tensor.offset = view.offset;
      tensor.strides = view.strides;
      check_view(tensor);
    } catch (const Error& error) {
      throw error.within(fmt::format("tensor \"{}\"", name));
    }
    return tensor;
  }

  const PickleGraph& graph_;
  const FindStorage& find_storage_;
  std::vector<StoredTensor> tensors_;
  std::vector<NodeId> path_;
  std::size_t visits_ = 0, names_bytes_ = 0;
};

}  // namespace

std::vector<StoredTensor> pickled_tensors(const PickleGraph& graph,
                                          const FindStorage& find_storage) {
  return Walk(graph, find_storage).run();
}

}  // namespace navtalk
