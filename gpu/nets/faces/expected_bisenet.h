// The tensors of the face parsing net, whose sizes stand in the file's own shapes.
#pragma once

#include <vector>

#include "core/checkpoint/checkpoint.h"
#include "gpu/nets/net_config.h"

namespace navtalk {

// What the shapes say; a tensor that is not there leaves its size at the published one. Error{invalid} with
// the file's name for another number of classes than k_parsing_classes, whose meaning is unknown.
BisenetConfig bisenet_config(const Checkpoint& checkpoint);

std::vector<TensorInfo> expected_bisenet(const BisenetConfig& config);

}  // namespace navtalk
