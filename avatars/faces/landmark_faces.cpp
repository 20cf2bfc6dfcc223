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

namespace {

// What DWPose sees of a person among others: the face with its surroundings and the upper body, and of a neighbour at most what is
// nearer to this face than to theirs.
Box person_around(const Box& face, const Detections& all, const Clip& clip) {
  Box person{face.x1 - face.width(), face.y1 - face.height(), face.x2 + face.width(),
             face.y2 + 2 * face.height()};
  const int middle = (face.x1 + face.x2) / 2;
  for (const Box& other : all) {
    const int half_way = (middle + (other.x1 + other.x2) / 2) / 2;
    if (other.x1 >= face.x2) person.x2 = std::min(person.x2, std::max(face.x2, half_way));
    if (other.x2 <= face.x1) person.x1 = std::max(person.x1, std::min(face.x1, half_way));
  }
  return intersection(person, {0, 0, clip.width(), clip.height()});
}

}  // namespace

LandmarkFaces::LandmarkFaces(FaceNets nets, const std::string& networks,
                             const LandmarkBoxOptions& options, int face)
    : nets_(std::move(nets)),
      options_(options),
      face_(face),
      identity_(fmt::format("dwpose 3 {} {} {}{}", options.bbox_shift, options.extra_margin,
                            networks, face > 1 ? fmt::format(", face {}", face) : "")) {}

LandmarkFaces LandmarkFaces::open(const std::filesystem::path& models,
                                  const LandmarkBoxOptions& options, const FaceNetOptions& networks,
                                  int face) {
  const std::filesystem::path detector_file = require_weights(models, Net::s3fd);
  const std::filesystem::path landmarks_file = require_weights(models, Net::dwpose);
  const auto detector = std::make_shared<const FaceDetector>(detector_file, networks);
  const auto landmarks = std::make_shared<const FaceLandmarks>(landmarks_file, networks);
  return {{.detect = [detector](ConstImageView picture) { return detector->faces(picture); },
           .points = [landmarks](ConstImageView picture) { return landmarks->points(picture); }},
          fmt::format("{} {} {}", sha256_file(detector_file), sha256_file(landmarks_file),
                      numbers_of(networks)),
          options,
          face};
}

FaceBoxes LandmarkFaces::boxes_of(const std::vector<Seen>& frames, const Clip& clip) {
  FaceBoxes boxes;
  landmarks_.clear();
  std::size_t profiles = 0;
  for (const Seen& seen : frames) {
    std::optional<Box> box;
    FacePoints points;
    if (seen.detected) {
      points = face_points(seen.points);
      const bool profile = is_profile(points);
      profiles += profile;
      if (!profile)
        box = landmark_box(points, *seen.detected, options_, clip.width(), clip.height());
    }
    landmarks_.push_back(box ? std::move(points) : FacePoints());
    boxes.push_back(box);
  }
  warn_of_profiles(profiles);
  return boxes;
}

FaceBoxes LandmarkFaces::find(Clip& clip, const FrameRate& fps, const Progress& progress,
                              const std::stop_token& stop) {
  const auto count = static_cast<std::size_t>(clip.frame_count());
  const auto picture = [&](std::size_t i) {
    throw_if_stopped(stop);
    if (progress) progress("faces", i + 1, count);
    return clip.frame(static_cast<std::int64_t>(i));
  };
  std::vector<Detections> detections;
  std::vector<Seen> frames;
  for (std::size_t i = 0; i < count; ++i) {
    const Image frame = picture(i);
    detections.push_back(nets_.detect(frame.view()));
    Seen seen;
    if (!detections.back().empty()) seen = {detections.back().front(), nets_.points(frame.view())};
    frames.push_back(std::move(seen));
  }
  const FollowedFace followed = follow_face(detections, fps, std::max(1, face_));
  if (!followed.others.empty() || face_ > 1) {
    if (face_ == 0) warn_of_others(followed);
    for (std::size_t i = 0; i < count; ++i) {
      frames[i] = {};
      if (!followed.boxes[i]) continue;
      const Box person = person_around(*followed.boxes[i], detections[i], clip);
      if (person.empty()) continue;
      const Image frame = picture(i);
      frames[i] = {followed.boxes[i], nets_.points(frame.view().crop(person))};
      for (PosePoint& point : frames[i].points) {
        point.x += person.x1;
        point.y += person.y1;
      }
    }
  }
  FaceBoxes boxes = boxes_of(frames, clip);
  if (std::count(boxes.begin(), boxes.end(), std::nullopt) == std::ssize(boxes))
    throw Error(Code::invalid,
                "no face was found: the face must look at the camera, upright and well lit; "
                "or give its position with --face-box");
  refuse_small_faces(boxes);
  return boxes;
}

}  // namespace navtalk
