// The landmarks of a person (DWPose), loaded and ready: 133 points, 68 of them of the face. One thread at a time.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "core/tensor/image.h"
#include "gpu/model/face_net_options.h"
#include "gpu/model/pose_points.h"

namespace navtalk {

class FaceLandmarks {
 public:
  // `file`: find_weights(models, Net::dwpose). Error{invalid} names a missing, surplus or mis-shaped tensor.
  // Error{invalid} for a number format that the device lacks.
  explicit FaceLandmarks(const std::filesystem::path& file, const FaceNetOptions& options = {});
  FaceLandmarks(FaceLandmarks&&) noexcept;
  FaceLandmarks& operator=(FaceLandmarks&&) noexcept;
  ~FaceLandmarks();

  // BGR of any size, which shows one person -> the mean of the scores of the picture and of its mirror image. Error{invalid}
  // when they are not finite.
  PoseBins bins(ConstImageView picture) const;
  // The same, as points.
  std::vector<PosePoint> points(ConstImageView picture) const;
  // Of several pictures, which go through the net together; scores are those of each alone to within rounding.
  std::vector<PoseBins> bins(std::span<const ConstImageView> pictures) const;
  std::vector<std::vector<PosePoint>> points(std::span<const ConstImageView> pictures) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace navtalk
