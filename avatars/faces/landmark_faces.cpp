#include "avatars/faces/landmark_faces.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "core/checkpoint/checkpoint.h"
#include "gpu/model/face_detector.h"
#include "gpu/model/face_landmarks.h"
#include "gpu/model/model_files.h"

namespace navtalk {

LandmarkFaces::LandmarkFaces(Look look, const std::string& networks,
                             const LandmarkBoxOptions& options)
    : look_(std::move(look)),
      options_(options),
      identity_(
          fmt::format("dwpose {} {} {}", options.bbox_shift, options.extra_margin, networks)) {}

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
  const auto count = static_cast<std::size_t>(clip.frame_count());
  for (std::size_t i = 0; i < count; ++i) {
    throw_if_stopped(stop);
    const Image frame = clip.frame(static_cast<std::int64_t>(i));
    const Seen seen = look_(frame.view());
    boxes.push_back(seen.detected ? landmark_box(seen.points, *seen.detected, options_,
                                                 clip.width(), clip.height())
                                  : std::nullopt);
    if (progress) progress("faces", i + 1, count);
  }
  if (std::count(boxes.begin(), boxes.end(), std::nullopt) == std::ssize(boxes))
    throw Error(Code::invalid,
                "no face was found: the face must look at the camera, upright and well lit; "
                "or give its position with --face-box");
  refuse_small_faces(boxes);
  return boxes;
}

}  // namespace navtalk
