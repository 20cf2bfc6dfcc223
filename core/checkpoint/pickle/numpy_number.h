// One number as numpy pickles it.
#pragma once

#include <string_view>

#include "core/checkpoint/pickle/pickle_graph.h"

namespace navtalk {

// data.size() must be dtype.bytes. The node is a boolean, an integer or a real; an unsigned number
// above the range of int64 is opaque.
Node number_node(const PickleDtype& dtype, std::string_view data);

}  // namespace navtalk
