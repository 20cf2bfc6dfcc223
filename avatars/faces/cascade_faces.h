// The built-in face finder without landmarks: the squares of OpenCV's cascades, followed and smoothed over time, and turned into boxes
// like those that MuseTalk derives from landmarks. The box is an estimate.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "avatars/faces/cascade_track.h"
#include "avatars/faces/face_source.h"
#include "core/base/frame_rate.h"

namespace navtalk {

class CascadeFaces : public FaceSource {
 public:
  // `directories`: where opencv-data may lie; the first that has a file wins.
  explicit CascadeFaces(FollowOptions options = {},
                        std::vector<std::filesystem::path> directories = cascade_directories())
      : options_(options), directories_(std::move(directories)) {}

  std::string name() const override { return "cascade"; }
  std::string identity() const override {
    return std::string(options_.smooth ? "cascade 6" : "cascade 6, not smoothed") +
           (options_.face > 1 ? ", face " + std::to_string(options_.face) : "");
  }
  // Errors of follow_by_cascades().
  FaceBoxes find(Clip& clip, const FrameRate& fps, const std::filesystem::path& notes,
                 const Progress& progress, const std::stop_token& stop) override;

 private:
  FollowOptions options_;
  std::vector<std::filesystem::path> directories_;
};

}  // namespace navtalk
