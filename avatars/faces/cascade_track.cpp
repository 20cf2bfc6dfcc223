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

// The last cascade looks for people whom the one that serves misses: first into a few frames, then, where a tenth of these have
// somebody, into all.
constexpr double k_samples_per_s = 5;
constexpr double k_worth_looking = 0.1;

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

struct InstalledCascade {
  const Cascade* kind;
  std::filesystem::path file{};
};

std::vector<SeenFaces> detect_all(Clip& clip, const InstalledCascade& cascade,
                                  const std::filesystem::path& notes, const Progress& progress,
                                  const std::stop_token& stop) {
  Detector detector(cascade.file, *cascade.kind);
  std::vector<SeenFaces> frames;
  const auto count = static_cast<std::size_t>(clip.frame_count());
  FrameLog log(notes, cascade.kind->log);
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

// The cascades that are installed, in order of preference. Error{not_found}.
std::vector<InstalledCascade> installed(const std::vector<std::filesystem::path>& directories) {
  std::vector<InstalledCascade> all;
  for (const Cascade& cascade : k_cascades)
    for (const auto& directory : directories) {
      std::error_code ignored;
      const std::filesystem::path file = directory / cascade.name;
      if (!std::filesystem::is_regular_file(file, ignored)) continue;
      all.push_back({.kind = &cascade, .file = file});
      break;
    }
  if (all.empty())
    throw Error(Code::not_found,
                "the face finder's cascade files are not installed: install Debian's package "
                "opencv-data, or give the face's position with --face-box");
  return all;
}

// Whether `other` sees a face that `frames` lack, in a tenth or more of the frames that are looked at.
bool sees_more(Clip& clip, const FrameRate& fps, const InstalledCascade& other,
               const std::vector<SeenFaces>& frames, const std::stop_token& stop) {
  Detector detector(other.file, *other.kind);
  const auto step = static_cast<std::size_t>(std::max(1L, std::lround(fps.hz() / k_samples_per_s)));
  std::size_t samples = 0, with_more = 0;
  for (std::size_t i = 0; i < frames.size(); i += step) {
    throw_if_stopped(stop);
    const Image picture = clip.frame(static_cast<std::int64_t>(i));
    const Detections found = detector(picture);
    ++samples;
    with_more += std::ranges::any_of(found, [&](const Box& box) {
      return std::ranges::none_of(frames[i],
                                  [&](const SeenFace& seen) { return same_place(seen.box, box); });
    });
  }
  return static_cast<double>(with_more) >= k_worth_looking * static_cast<double>(samples);
}

FollowedFace follow_by_cascades(Clip& clip, const FrameRate& fps, int face,
                                const std::vector<std::filesystem::path>& directories,
                                const std::filesystem::path& notes, const Progress& progress,
                                const std::stop_token& stop) {
  const std::vector<InstalledCascade> cascades = installed(directories);
  const auto look = [&](const InstalledCascade& cascade) {
    return detect_all(clip, cascade, notes, progress, stop);
  };
  try {
    std::vector<SeenFaces> best;
    const InstalledCascade* serving = nullptr;
    for (const InstalledCascade& cascade : cascades) {
      std::vector<SeenFaces> frames = look(cascade);
      if (serving == nullptr || frames_with_face(frames) > frames_with_face(best)) {
        best = std::move(frames);
        serving = &cascade;
      }
      if (2 * frames_with_face(best) >= best.size()) break;
    }
    const InstalledCascade& last = cascades.back();
    if (serving != &last && sees_more(clip, fps, last, best, stop))
      best = with_missed_people(std::move(best), look(last), fps);
    FollowedFace followed = follow_face(best, fps, std::max(1, face));
    if (face == 0 && !followed.others.empty()) warn_of_others(followed);
    return followed;
  } catch (const cv::Exception& error) {
    throw Error(Code::failed, fmt::format("the face finder failed: {}", error.what()));
  }
}

}  // namespace navtalk
