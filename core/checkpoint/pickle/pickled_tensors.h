// From a pickled object to the tensors in it, for both torch containers.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "core/checkpoint/pickle/pickle_graph.h"
#include "core/checkpoint/stored_tensor.h"

namespace navtalk {

// The bytes of a whole (root) storage; Error{invalid} when the file lacks it or has another size.
using FindStorage = std::function<std::span<const std::byte>(const PickleStorage&)>;

// Walks dicts, lists and tuples from the root, or from its "state_dict", and names each tensor by
// its path, joined by dots. Error{invalid} for a root that is not such a container, names that come
// twice, more than 64 levels or a million values, and tensors that do not fit their storage.
std::vector<StoredTensor> pickled_tensors(const PickleGraph& graph,
                                          const FindStorage& find_storage);

}  // namespace navtalk
