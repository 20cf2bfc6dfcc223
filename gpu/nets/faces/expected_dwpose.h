// The tensors of the landmark net, whose sizes stand in the file's own shapes.
#pragma once

#include <vector>

#include "core/checkpoint/checkpoint.h"
#include "gpu/nets/net_config.h"

namespace navtalk {

// What the shapes and the numbers of blocks say; what is not there keeps its published size. Error{invalid} with the
// file's name for a net of other points, bins or input, whose meaning is unknown.
DwposeConfig dwpose_config(const Checkpoint& checkpoint);

std::vector<TensorInfo> expected_dwpose(const DwposeConfig& config);

}  // namespace navtalk
