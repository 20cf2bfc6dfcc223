#include "avatars/faces/landmark_faces.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "core/checkpoint/checkpoint.h"
#include "core/log/log.h"
#include "gpu/model/face_detector.h"
#include "gpu/model/face_landmarks.h"
#include "gpu/model/model_files.h"

namespace navtalk {

LandmarkFaces::LandmarkFaces(Look look, const std::string& networks,
                             const LandmarkBoxOptions& options)
    : look_(std::move(look)),
      options_(options),
      identity_(
          fmt::format("dwpose 2 {} {} {}", options.bbox_shift, options.extra_margin, networks)) {}

LandmarkFaces LandmarkFaces::open(const std::filesystem::path& models,
                                  const LandmarkBoxOptions& options,
                                  const FaceNetOptions& networks) {
  const std::filesystem::path detector_file = require_weights(models, Net::s3fd);
  const std::filesystem::path landmarks_file = require_weights(models, Net::dwpose);
  const auto detector = std::make_shared<const FaceDetector>(detector_file, networks);
  const auto landmarks = std::make_shared<const FaceLandmarks>(landmarks_file, networks);
  const auto look = [detector, landmarks](ConstImageView frame) {
    const std::optional<Box> detected = detector->face(frame);
    return Seen{detected, detected ? landmarks->points(frame) : std::vector<PosePoint>()};
  };
  return {look,
          fmt::format("{} {} {}", sha256_file(detector_file), sha256_file(landmarks_file),
                      numbers_of(networks)),
          options};
}

FaceBoxes LandmarkFaces::find(Clip& clip, const FrameRate&, const Progress& progress,
                              const std::stop_token& stop) {
  FaceBoxes boxes;
  landmarks_.clear();
  std::size_t profiles = 0;
  const auto count = static_cast<std::size_t>(clip.frame_count());
  for (std::size_t i = 0; i < count; ++i) {
    throw_if_stopped(stop);
    const Image frame = clip.frame(static_cast<std::int64_t>(i));
    const Seen seen = look_(frame.view());
    std::optional<Box> box;
    if (seen.detected) {
      const bool profile = is_profile(seen.points);
      profiles += profile;
      if (!profile)
        box = landmark_box(seen.points, *seen.detected, options_, clip.width(), clip.height());
    }
    landmarks_.push_back(box ? face_points(seen.points) : FacePoints());
    boxes.push_back(box);
    if (progress) progress("faces", i + 1, count);
  }
  if (std::count(boxes.begin(), boxes.end(), std::nullopt) == std::ssize(boxes))
    throw Error(Code::invalid,
                "no face was found: the face must look at the camera, upright and well lit; "
                "or give its position with --face-box");
  if (profiles > 0)
    log::warn("frames that show the face from the side are left as they are",
              {{"frames", std::to_string(profiles)}});
  refuse_small_faces(boxes);
  return boxes;
}

}  // namespace navtalk
