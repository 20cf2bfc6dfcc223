// The golden groups of MuseTalk's face networks. fp32, whatever was asked for: preparation has no other.
#pragma once

#include <vector>

#include "gpu/verify/golden_file.h"
#include "gpu/verify/verify.h"

namespace navtalk {

// Each needs its own file of the folder only, and that the group's tensors are there. Error{not_found}, Error{invalid}.
std::vector<GroupResult> compare_bisenet(const GoldenFile& golden, const Model::Options& options);
std::vector<GroupResult> compare_dwpose(const GoldenFile& golden, const Model::Options& options);
std::vector<GroupResult> compare_s3fd(const GoldenFile& golden, const Model::Options& options);

}  // namespace navtalk
