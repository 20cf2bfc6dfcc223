// The face detector (S3FD), loaded and ready. Computes at the picture's own size: a picture of
// 3840x2160 takes several GB. One thread at a time.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/tensor/image.h"
#include "gpu/model/face_boxes.h"
#include "gpu/model/face_net_options.h"

namespace navtalk {

class FaceDetector {
 public:
  // `file`: find_weights(models, Net::s3fd). Error{invalid} names a missing, surplus or mis-shaped tensor.
  // Error{invalid} for a number format that the device lacks.
  explicit FaceDetector(const std::filesystem::path& file, const FaceNetOptions& options = {});
  FaceDetector(FaceDetector&&) noexcept;
  FaceDetector& operator=(FaceDetector&&) noexcept;
  ~FaceDetector();

  // BGR, both sides at least 32. Error{invalid} when the scores are not finite.
  FaceScores scores(ConstImageView picture) const;
  // Of several pictures of one size, which go through the net together, as far as they have no more pixels than one of 3840x2160;
  // scores are those of each alone to within rounding.
  std::vector<FaceScores> scores(std::span<const ConstImageView> pictures) const;
  // MuseTalk's face of the picture; nullopt also for one that is smaller than 32 pixels.
  std::optional<Box> face(ConstImageView picture) const;
  // That one, and the others, by their scores.
  std::vector<Box> faces(ConstImageView picture) const;
  std::vector<std::vector<Box>> faces(std::span<const ConstImageView> pictures) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace navtalk
