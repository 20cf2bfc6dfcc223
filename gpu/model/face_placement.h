// Where a face network's layers are made. Only for sources that include ATen.
#pragma once

#include "gpu/model/face_net_options.h"
#include "gpu/nets/placement.h"

namespace navtalk {

// Error{invalid} for a number format that the device lacks.
nets::Placement face_placement(const FaceNetOptions& options);
int face_threads(const FaceNetOptions& options);

}  // namespace navtalk
