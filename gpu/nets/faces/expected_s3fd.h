// The tensors of the face detection net, whose sizes stand in the file's own shapes.
#pragma once

#include <vector>

#include "core/checkpoint/checkpoint.h"
#include "gpu/nets/net_config.h"

namespace navtalk {

// What the shapes say; a tensor that is not there leaves its size at the published one.
S3fdConfig s3fd_config(const Checkpoint& checkpoint);

std::vector<TensorInfo> expected_s3fd(const S3fdConfig& config);

}  // namespace navtalk
