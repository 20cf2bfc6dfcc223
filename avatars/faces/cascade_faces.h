// The built-in face finder: OpenCV's frontal cascades from Debian's opencv-data, followed and
// smoothed over time, and turned into boxes like those that MuseTalk derives from landmarks. It
// wants one upright face that looks roughly at the camera; the box is an estimate from the
// detection's square, not measured landmarks.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "avatars/faces/face_source.h"
#include "core/base/frame_rate.h"

namespace navtalk {

struct CascadeOptions {
  bool smooth =
      true;  // over time; otherwise dropouts are bridged, and the boxes are those of single frames
  int face =
      0;  // which one, from 1 by size; 0: the largest, with a warning where others stay beside it
};

class CascadeFaces : public FaceSource {
 public:
  // `directories`: where opencv-data may lie; the first that has a file wins.
  explicit CascadeFaces(std::vector<std::filesystem::path> directories = default_directories(),
                        CascadeOptions options = {});
  static std::vector<std::filesystem::path> default_directories();

  std::string name() const override { return "cascade"; }
  std::string identity() const override {
    return std::string(options_.smooth ? "cascade 2" : "cascade 2, not smoothed") +
           (options_.face > 1 ? ", face " + std::to_string(options_.face) : "");
  }
  // The preferred cascade that sees a face in half of the frames serves, else the one that sees
  // most. Error{not_found} without cascade files; Error{invalid} for no face, or none of that number.
  FaceBoxes find(Clip& clip, const FrameRate& fps, const Progress& progress,
                 const std::stop_token& stop) override;

 private:
  std::vector<std::filesystem::path> directories_;
  CascadeOptions options_;
};

}  // namespace navtalk
