// Face boxes that the caller names: one for all frames, or one for each.
#pragma once

#include <filesystem>

#include "avatars/faces/face_source.h"
#include "core/base/frame_rate.h"

namespace navtalk {

class GivenFaces : public FaceSource {
 public:
  explicit GivenFaces(FaceBoxes boxes) : boxes_(std::move(boxes)) {}
  explicit GivenFaces(const Box& box) : boxes_{box} {}

  std::string name() const override { return "box"; }
  std::string identity() const override;
  // Error{invalid} when their number is neither one nor the clip's, when one leaves the frame, or
  // when there is none at all.
  FaceBoxes find(Clip& clip, const FrameRate& fps, const std::filesystem::path& notes,
                 const Progress& progress, const std::stop_token& stop) override;

 private:
  FaceBoxes boxes_;
};

// {"boxes": [[x1,y1,x2,y2] or null, ...]}. Error{not_found}, Error{invalid} with file and key.
FaceBoxes read_face_boxes(const std::filesystem::path& file);

}  // namespace navtalk
