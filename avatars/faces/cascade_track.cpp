#include "avatars/faces/cascade_track.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <opencv2/imgproc.hpp>
#include <opencv2/objdetect.hpp>

#include "avatars/faces/search/frame_log.h"
#include "core/base/error.h"
#include "core/base/interrupt.h"

namespace navtalk {
namespace {

// In order of preference: how well their squares agree with each other and with portraits. The last sees faces that the others miss, those
// with glasses for one. Its squares are smaller: `side` and `down` make them like the others' (measured on 20 faces that both see; standard
// deviations 0.045 of the side and 0.02).
struct Cascade {
  const char* name;
  const char* log;  // the name of what it has seen
  double side = 1;  // of the others' square, in parts of its own
  double down = 0;  // of its middle, from its own, in parts of its own side
};
constexpr Cascade k_cascades[] = {
    {.name = "haarcascades/haarcascade_frontalface_alt2.xml", .log = "haar_alt2.log"},
    {.name = "haarcascades/haarcascade_frontalface_default.xml", .log = "haar_default.log"},
    {.name = "lbpcascades/lbpcascade_frontalface.xml", .log = "lbp.log"},
    {.name = "lbpcascades/lbpcascade_frontalface_improved.xml",
     .log = "lbp_improved.log",
     .side = 1.47,
     .down = -0.108}};
// Pictures are searched at this size of the shorter side: smaller ones lose small faces, larger
// ones give squares that jump more from frame to frame.
constexpr int k_detector_side = 320;
constexpr double k_least_size = 0.1;  // of a face, against the shorter side

// Detections in a BGR picture, in the picture's own pixels.
class Detector {
 public:
  Detector(const std::filesystem::path& file, const Cascade& kind)
      : kind_(kind), cascade_(file.string()) {
    if (cascade_.empty())
      throw Error(Code::invalid, fmt::format("{}: not a cascade file", file.string()));
  }

  Detections operator()(const Image& image) {
    const double shrink =
        std::min(1.0, static_cast<double>(k_detector_side) / std::min(image.width, image.height));
    // OpenCV only reads it; cv::Mat has no read-only form.
    const cv::Mat bgr(image.height, image.width, CV_8UC3,
                      const_cast<std::uint8_t*>(image.pixels.data()));
    cv::Mat grey;
    cv::cvtColor(bgr, grey, cv::COLOR_BGR2GRAY);
    if (shrink < 1) cv::resize(grey, grey, {}, shrink, shrink, cv::INTER_AREA);
    cv::equalizeHist(grey, grey);
    const int least = std::max(1, static_cast<int>(k_least_size * std::min(grey.cols, grey.rows)));
    std::vector<cv::Rect> found;
    cascade_.detectMultiScale(grey, found, 1.1, 5, 0, {least, least});
    Detections boxes;
    for (const cv::Rect& rect : found) {
      const auto back = [&](double v) { return static_cast<int>(std::lround(v / shrink)); };
      const double more = (kind_.side - 1) / 2 * rect.width, down = kind_.down * rect.width;
      boxes.push_back({back(rect.x - more), back(rect.y - more + down),
                       back(rect.x + rect.width + more), back(rect.y + rect.height + more + down)});
    }
    return boxes;
  }

 private:
  Cascade kind_;
  cv::CascadeClassifier cascade_;
};

std::vector<SeenFaces> detect_all(Clip& clip, const std::filesystem::path& file,
                                  const Cascade& cascade, const std::filesystem::path& notes,
                                  const Progress& progress, const std::stop_token& stop) {
  Detector detector(file, cascade);
  std::vector<SeenFaces> frames;
  const auto count = static_cast<std::size_t>(clip.frame_count());
  FrameLog log(notes, cascade.log);
  frames.resize(log.resume(count, 1, [&](std::span<const std::int32_t> numbers) {
    auto seen = read_seen_faces(numbers);
    if (seen) frames.push_back(*std::move(seen));
    return seen.has_value();
  }));
  for (std::size_t i = frames.size(); i < count; ++i) {
    throw_if_stopped(stop);
    const Image picture = clip.frame(static_cast<std::int64_t>(i));
    frames.push_back(look_at(picture.view(), detector(picture)));
    log.append(numbers_of(frames.back()));
    if (progress) progress("faces", i + 1, count);
  }
  return frames;
}

std::size_t frames_with_face(const std::vector<SeenFaces>& frames) {
  return static_cast<std::size_t>(std::count_if(
      frames.begin(), frames.end(), [](const SeenFaces& seen) { return !seen.empty(); }));
}

}  // namespace

std::vector<std::filesystem::path> cascade_directories() {
  return {"/usr/share/opencv4", "/usr/local/share/opencv4", "/usr/share/opencv"};
}

FollowedFace follow_by_cascades(Clip& clip, const FrameRate& fps, int face,
                                const std::vector<std::filesystem::path>& directories,
                                const std::filesystem::path& notes, const Progress& progress,
                                const std::stop_token& stop) {
  std::vector<SeenFaces> best;
  bool any_cascade = false;
  for (const Cascade& cascade : k_cascades) {
    const auto directory =
        std::find_if(directories.begin(), directories.end(), [&](const auto& candidate) {
          std::error_code ignored;
          return std::filesystem::is_regular_file(candidate / cascade.name, ignored);
        });
    if (directory == directories.end()) continue;
    any_cascade = true;
    try {
      std::vector<SeenFaces> frames =
          detect_all(clip, *directory / cascade.name, cascade, notes, progress, stop);
      if (best.empty() || frames_with_face(frames) > frames_with_face(best))
        best = std::move(frames);
    } catch (const cv::Exception& error) {
      throw Error(Code::failed, fmt::format("the face finder failed: {}", error.what()));
    }
    if (2 * frames_with_face(best) >= best.size()) break;
  }
  if (!any_cascade)
    throw Error(Code::not_found,
                "the face finder's cascade files are not installed: install Debian's package "
                "opencv-data, or give the face's position with --face-box");
  FollowedFace followed = follow_face(best, fps, std::max(1, face));
  if (face == 0 && !followed.others.empty()) warn_of_others(followed);
  return followed;
}

}  // namespace navtalk
