// DWPose and S3FD with small random weights, as files of the checkpoint folder.
#pragma once

#include <algorithm>

#include "gpu/nets/faces/expected_dwpose.h"
#include "gpu/nets/faces/expected_s3fd.h"
#include "tests/gpu/model/random_net.h"

namespace navtalk::tests {

inline const DwposeConfig k_small_dwpose{.stem = {2, 4, 6},
                                         .widths = {8, 8, 12, 12},
                                         .blocks = {1, 2, 1, 1},
                                         .final_kernel = 3,
                                         .hidden = 10,
                                         .expanded = 14,
                                         .attention = 6};
inline const S3fdConfig k_small_s3fd{
    .widths = {4, 6, 8, 10, 12}, .dense = {14, 16}, .sixth = {6, 8}, .seventh = {4, 6}};

inline std::filesystem::path write_dwpose(const std::filesystem::path& models,
                                          const std::string& without = {}) {
  const auto file = models / "dwpose/dw-ll_ucoco_384.safetensors";
  write_random_net(file, expected_dwpose(k_small_dwpose), without);
  return file;
}

// `sees_faces`: in every cell of the coarser scales, or nowhere.
inline std::filesystem::path write_s3fd(const std::filesystem::path& models, bool sees_faces = true,
                                        const std::string& without = {}) {
  const auto file = models / "s3fd.safetensors";
  write_random_net(file, expected_s3fd(k_small_s3fd), without,
                   [&](const TensorInfo& info, std::vector<float>& values) {
                     if (info.name == "conv1_1.weight")  // a picture's values are tens
                       for (float& value : values) value /= 60;
                     if (info.name.find("_mbox_conf.bias") == std::string::npos) return;
                     const bool finest = values.size() == 4;
                     std::fill(values.begin(), values.end(), 0.0F);
                     values.back() = sees_faces && !finest ? 3 : -1000;
                   });
  return file;
}

}  // namespace navtalk::tests
