// The built-in face finder: OpenCV's frontal cascades from Debian's opencv-data, followed and
// smoothed over time, and turned into boxes like those that MuseTalk derives from landmarks. It
// wants one upright face that looks roughly at the camera; the box is an estimate from the
// detection's square, not measured landmarks.
#pragma once

#include <filesystem>
#include <vector>

#include "avatars/faces/face_source.h"
#include "core/base/frame_rate.h"

namespace navtalk {

class CascadeFaces : public FaceSource {
 public:
  // `directories`: where opencv-data may lie; the first that has a file wins. `smooth`: over time;
  // otherwise dropouts are bridged, and the boxes are those of single frames.
  explicit CascadeFaces(std::vector<std::filesystem::path> directories = default_directories(),
                        bool smooth = true);
  static std::vector<std::filesystem::path> default_directories();

  std::string name() const override { return "cascade"; }
  std::string identity() const override {
    return smooth_ ? "cascade 2" : "cascade 2, not smoothed";
  }
  // The preferred cascade that sees a face in half of the frames serves, else the one that sees
  // most. Error{not_found} without cascade files; Error{invalid} for no face, or a second one.
  FaceBoxes find(Clip& clip, const FrameRate& fps, const Progress& progress,
                 const std::stop_token& stop) override;

 private:
  std::vector<std::filesystem::path> directories_;
  bool smooth_;
};

}  // namespace navtalk
