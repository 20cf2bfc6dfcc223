// The built-in face finder with landmarks: dlib's shape predictor, started from the square that OpenCV's cascades see. Its boxes are
// MuseTalk's, of the same 68 points, smoothed over time. A face in profile has none.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "avatars/faces/cascade_track.h"
#include "avatars/faces/face_smoothing.h"
#include "avatars/faces/face_source.h"
#include "avatars/faces/landmark_box.h"
#include "avatars/faces/shape_predictor.h"

namespace navtalk {

// The predictor of 68 points, where Debian's libdlib-data or another installation has put it.
std::optional<std::filesystem::path> installed_shape_predictor();

class ShapeFaces : public FaceSource {
 public:
  // Errors of ShapePredictor::read(); Error{invalid} for one of other than 68 points.
  explicit ShapeFaces(const std::filesystem::path& predictor, FollowOptions follow = {},
                      const LandmarkBoxOptions& box = {},
                      std::vector<std::filesystem::path> cascades = cascade_directories());

  std::string name() const override { return "dlib"; }
  std::string identity() const override { return identity_; }
  // Errors of follow_by_cascades(); Error{invalid} where no frame has a face that does not look aside. Stage "landmarks" behind "faces".
  FaceBoxes find(Clip& clip, const FrameRate& fps, const std::filesystem::path& notes,
                 const Progress& progress, const std::stop_token& stop) override;
  std::vector<FacePoints> landmarks() const override { return landmarks_; }

 private:
  std::vector<FacePoints> all_points(Clip& clip,
                                     const std::vector<std::optional<FaceSquare>>& squares,
                                     const std::filesystem::path& notes, const Progress& progress,
                                     const std::stop_token& stop) const;

  ShapePredictor predictor_;
  FollowOptions follow_;
  LandmarkBoxOptions box_;
  std::vector<std::filesystem::path> cascades_;
  std::string identity_;
  std::vector<FacePoints> landmarks_{};
};

}  // namespace navtalk
