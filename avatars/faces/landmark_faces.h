// Faces by MuseTalk's own networks: S3FD says whether a frame shows a face, and DWPose's landmarks where its box is. Boxes are those
// of MuseTalk, frame by frame, and are not smoothed. A face in profile has none, where MuseTalk would smear it.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "avatars/faces/face_source.h"
#include "avatars/faces/face_track.h"
#include "avatars/faces/landmark_box.h"
#include "gpu/model/face_net_options.h"

namespace navtalk {

// The two networks, each on several pictures at once.
struct FaceNets {
  using Pictures = std::span<const ConstImageView>;
  std::function<std::vector<Detections>(Pictures)> detect;  // every face of each, the best first
  std::function<std::vector<std::vector<PosePoint>>(Pictures)>
      points;             // of the one person that each shows
  std::size_t batch = 1;  // pictures at most
};

class LandmarkFaces : public FaceSource {
 public:
  // `networks`: what tells these from others. `face`: which one, from 1 by size; 0: the largest, with a warning where others stay
  // beside it.
  LandmarkFaces(FaceNets nets, const std::string& networks, const LandmarkBoxOptions& options,
                int face = 0);
  // With the files of a checkpoint folder; both are there: require_weights(). Errors of FaceDetector and FaceLandmarks.
  static LandmarkFaces open(const std::filesystem::path& models, const LandmarkBoxOptions& options,
                            const FaceNetOptions& networks = {}, int face = 0);

  std::string name() const override { return "dwpose"; }
  std::string identity() const override { return identity_; }
  // DWPose expects one person. It sees the whole frame, as in MuseTalk, where one person is in the clip, and otherwise what surrounds the
  // chosen face. Error{invalid} when no frame shows a face, or none of that number, or when it is narrower than
  // k_least_face_pixels in most frames.
  FaceBoxes find(Clip& clip, const FrameRate& fps, const std::filesystem::path& notes,
                 const Progress& progress, const std::stop_token& stop) override;
  std::vector<FacePoints> landmarks() const override { return landmarks_; }

 private:
  // What is looked at for a frame's landmarks, and what was found there.
  struct Seen {
    std::optional<Box> detected{};
    Box part{};  // of the frame
    FacePoints points{};
  };
  // Called with a stretch of the clip's frames of those that are wanted, and their pictures.
  using Work = std::function<void(std::span<const std::size_t> frames, FaceNets::Pictures)>;
  void in_batches(Clip& clip, std::span<const std::size_t> frames, const std::stop_token& stop,
                  const Work& work) const;
  std::vector<SeenFaces> detect(Clip& clip, const std::filesystem::path& notes,
                                const Progress& progress, const std::stop_token& stop) const;
  void find_points(Clip& clip, std::vector<Seen>& frames, const std::filesystem::path& notes,
                   const Progress& progress, const std::stop_token& stop) const;
  std::vector<Seen> where_to_look(const std::vector<SeenFaces>& detections, const FrameRate& fps,
                                  const Clip& clip) const;
  FaceBoxes boxes_of(std::vector<Seen> frames, const Clip& clip);

  FaceNets nets_;
  LandmarkBoxOptions options_;
  int face_;
  std::string identity_;
  std::vector<FacePoints> landmarks_{};
};

}  // namespace navtalk
