#include "avatars/faces/landmark_faces.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include "avatars/faces/search/frame_log.h"
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
Box person_around(const Box& face, const SeenFaces& all, const Clip& clip) {
  Box person{face.x1 - face.width(), face.y1 - face.height(), face.x2 + face.width(),
             face.y2 + 2 * face.height()};
  const int middle = (face.x1 + face.x2) / 2;
  for (const SeenFace& one : all) {
    const Box& other = one.box;
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
      identity_(fmt::format("dwpose 4 {} {} {}{}", options.bbox_shift, options.extra_margin,
                            networks, face > 1 ? fmt::format(", face {}", face) : "")) {}

LandmarkFaces LandmarkFaces::open(const std::filesystem::path& models,
                                  const LandmarkBoxOptions& options, const FaceNetOptions& networks,
                                  int face) {
  const std::filesystem::path detector_file = require_weights(models, Net::s3fd);
  const std::filesystem::path landmarks_file = require_weights(models, Net::dwpose);
  const auto detector = std::make_shared<const FaceDetector>(detector_file, networks);
  const auto landmarks = std::make_shared<const FaceLandmarks>(landmarks_file, networks);
  return {{.detect = [detector](FaceNets::Pictures seen) { return detector->faces(seen); },
           .points = [landmarks](FaceNets::Pictures seen) { return landmarks->points(seen); },
           .batch = static_cast<std::size_t>(pictures_at_once(networks))},
          fmt::format("{} {} {}", sha256_file(detector_file), sha256_file(landmarks_file),
                      numbers_of(networks)),
          options,
          face};
}

FaceBoxes LandmarkFaces::boxes_of(std::vector<Seen> frames, const Clip& clip) {
  FaceBoxes boxes;
  landmarks_.clear();
  std::size_t profiles = 0, of_detector = 0;
  for (Seen& seen : frames) {
    std::optional<Box> box;
    FacePoints points;
    if (seen.detected) {
      points = std::move(seen.points);
      const bool profile = is_profile(points);
      profiles += profile;
      of_detector += !profile && !gives_box(points, options_);
      if (!profile)
        box = landmark_box(points, *seen.detected, options_, clip.width(), clip.height());
    }
    landmarks_.push_back(box ? std::move(points) : FacePoints());
    boxes.push_back(box);
  }
  warn_of_profiles(profiles);
  if (of_detector > 0)
    log::warn(
        "landmarks give no box, so the detector's is taken; another --bbox-shift may give one",
        {{"frames", std::to_string(of_detector)},
         {"bbox_shift", std::to_string(options_.bbox_shift)}});
  return boxes;
}

void LandmarkFaces::in_batches(Clip& clip, std::span<const std::size_t> frames,
                               const std::stop_token& stop, const Work& work) const {
  std::span<const std::size_t> left = frames;
  while (!left.empty()) {
    throw_if_stopped(stop);
    const auto batch = left.first(std::min(nets_.batch, left.size()));
    std::vector<Image> pictures;
    std::vector<ConstImageView> views;
    for (const std::size_t frame : batch)
      pictures.push_back(clip.frame(static_cast<std::int64_t>(frame)));
    for (const Image& picture : pictures) views.push_back(picture.view());
    work(batch, views);
    left = left.subspan(batch.size());
  }
}

// One person: the whole frame, and its best face, as in MuseTalk, but for frames that show somebody else for a moment. Several: what
// surrounds the chosen one's face.
std::vector<LandmarkFaces::Seen> LandmarkFaces::where_to_look(
    const std::vector<SeenFaces>& detections, const FrameRate& fps, const Clip& clip) const {
  const FollowedFace followed = follow_face(detections, fps, std::max(1, face_));
  const bool several = !followed.others.empty() || face_ > 1;
  if (several && face_ == 0) warn_of_others(followed);
  std::vector<Seen> frames(detections.size());
  for (std::size_t i = 0; i < frames.size(); ++i) {
    if (!several && !detections[i].empty() && followed.instead[i].empty())
      frames[i] = {.detected = detections[i].front().box,
                   .part = {0, 0, clip.width(), clip.height()}};
    if (!several || !followed.boxes[i]) continue;
    const Box person = person_around(*followed.boxes[i], detections[i], clip);
    if (!person.empty()) frames[i] = {.detected = followed.boxes[i], .part = person};
  }
  return frames;
}

std::vector<SeenFaces> LandmarkFaces::detect(Clip& clip, const std::filesystem::path& notes,
                                             const Progress& progress,
                                             const std::stop_token& stop) const {
  std::vector<std::size_t> all(static_cast<std::size_t>(clip.frame_count()));
  std::iota(all.begin(), all.end(), 0);
  std::vector<SeenFaces> detections;
  FrameLog log(notes, "detections.log");
  detections.resize(log.resume(all.size(), nets_.batch, [&](std::span<const std::int32_t> numbers) {
    auto seen = read_seen_faces(numbers);
    if (seen) detections.push_back(*std::move(seen));
    return seen.has_value();
  }));
  in_batches(clip, std::span(all).subspan(detections.size()), stop,
             [&](auto, FaceNets::Pictures pictures) {
               const std::vector<Detections> found = nets_.detect(pictures);
               for (std::size_t k = 0; k < found.size(); ++k) {
                 detections.push_back(look_at(pictures[k], found[k]));
                 log.append(numbers_of(detections.back()));
               }
               if (progress) progress("faces", (detections.size() + 1) / 2, all.size());
             });
  return detections;
}

void LandmarkFaces::find_points(Clip& clip, std::vector<Seen>& frames,
                                const std::filesystem::path& notes, const Progress& progress,
                                const std::stop_token& stop) const {
  std::vector<std::size_t> wanted;
  for (std::size_t i = 0; i < frames.size(); ++i)
    if (frames[i].detected) wanted.push_back(i);
  std::size_t next = 0;
  FrameLog log(notes, "points.log");
  const std::size_t there =
      log.resume(wanted.size(), nets_.batch, [&](std::span<const std::int32_t> numbers) {
        auto points = read_face_points(numbers);
        if (!points || points->empty() || next >= wanted.size()) return false;
        frames[wanted[next++]].points = *std::move(points);
        return true;
      });
  in_batches(clip, std::span(wanted).subspan(there), stop,
             [&](std::span<const std::size_t> batch, FaceNets::Pictures pictures) {
               std::vector<ConstImageView> people;
               for (std::size_t k = 0; k < batch.size(); ++k)
                 people.push_back(pictures[k].crop(frames[batch[k]].part));
               auto found = nets_.points(people);
               for (std::size_t k = 0; k < batch.size(); ++k) {
                 Seen& seen = frames[batch[k]];
                 for (PosePoint& point : found[k]) {
                   point.x += seen.part.x1;
                   point.y += seen.part.y1;
                 }
                 seen.points = face_points(found[k]);
                 log.append(numbers_of(seen.points));
               }
               if (progress)
                 progress("faces", (frames.size() + batch.back() + 2) / 2, frames.size());
             });
}

FaceBoxes LandmarkFaces::find(Clip& clip, const FrameRate& fps, const std::filesystem::path& notes,
                              const Progress& progress, const std::stop_token& stop) {
  std::vector<Seen> frames = where_to_look(detect(clip, notes, progress, stop), fps, clip);
  find_points(clip, frames, notes, progress, stop);
  FaceBoxes boxes = boxes_of(std::move(frames), clip);
  if (std::count(boxes.begin(), boxes.end(), std::nullopt) == std::ssize(boxes))
    throw Error(Code::invalid,
                "no face was found: the face must look at the camera, upright and well lit; "
                "or give its position with --face-box");
  refuse_small_faces(boxes);
  return boxes;
}

}  // namespace navtalk
