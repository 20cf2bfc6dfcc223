// Faces by MuseTalk's own networks: S3FD says whether a frame shows a face, and DWPose's landmarks where its box is. Boxes are those
// of MuseTalk, frame by frame, and are not smoothed. A face in profile has none, where MuseTalk would smear it.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "avatars/faces/face_source.h"
#include "avatars/faces/landmark_box.h"
#include "gpu/model/face_net_options.h"

namespace navtalk {

class LandmarkFaces : public FaceSource {
 public:
  // Of one frame: the detector's face, nullopt where it sees none; then there are no points either.
  struct Seen {
    std::optional<Box> detected;
    std::vector<PosePoint> points;
  };
  using Look = std::function<Seen(ConstImageView frame)>;

  // `networks`: what tells the networks of `look` from others.
  LandmarkFaces(Look look, const std::string& networks, const LandmarkBoxOptions& options);
  // With the files of a checkpoint folder; both are there: require_weights(). Errors of FaceDetector and FaceLandmarks.
  static LandmarkFaces open(const std::filesystem::path& models, const LandmarkBoxOptions& options,
                            const FaceNetOptions& networks = {});

  std::string name() const override { return "dwpose"; }
  std::string identity() const override { return identity_; }
  // Error{invalid} when no frame shows a face, or when it is narrower than k_least_face_pixels in most frames.
  FaceBoxes find(Clip& clip, const FrameRate& fps, const Progress& progress,
                 const std::stop_token& stop) override;
  std::vector<FacePoints> landmarks() const override { return landmarks_; }

 private:
  Look look_;
  LandmarkBoxOptions options_;
  std::string identity_;
  std::vector<FacePoints> landmarks_{};
};

}  // namespace navtalk
