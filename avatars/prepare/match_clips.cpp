#include "avatars/prepare/match_clips.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <opencv2/imgproc.hpp>
#include <vector>

#include "core/base/interrupt.h"

namespace navtalk {
namespace {

constexpr int k_thumbnail = 48;  // pixels of the longer side
// Pairs of frames that are compared for two clips: of a long clip not every frame is tried as an entry.
constexpr std::int64_t k_most_pairs = 1'000'000;
// Pictures after the change that have to be alike, too: both clips are seen for five (avatars/live/clip_timeline.h).
constexpr std::int64_t k_looked_at[] = {0, 2, 4};
// A clip goes round when its end is so much further from its start than neighbours are from each other, at most.
constexpr double k_loop_times = 1.5, k_loop_levels = 0.1;
constexpr double k_jump = 12;  // grey levels, from which on a change of clips is seen

// Everything that holds a face in some frame.
cv::Rect region_of(const Faces& faces, int width, int height) {
  cv::Rect region;
  for (const auto& face : faces) {
    if (!face) continue;
    const Box& box = face->placement.box;
    region |= cv::Rect(box.x1, box.y1, box.width(), box.height());
  }
  const cv::Rect frame(0, 0, width, height);
  region &= frame;
  return region.empty() ? frame : region;
}

cv::Mat thumbnail(const cv::Mat& grey, const cv::Rect& part) {
  const double scale = static_cast<double>(k_thumbnail) / std::max(part.width, part.height);
  const cv::Size size(std::max(1, cvRound(part.width * scale)),
                      std::max(1, cvRound(part.height * scale)));
  cv::Mat small;
  cv::resize(grey(part), small, size, 0, 0, cv::INTER_AREA);
  return small;
}

class Thumbnails {
 public:
  Thumbnails(Clip& pictures, const Faces& faces, const Progress& progress,
             const std::stop_token& stop) {
    const cv::Rect whole(0, 0, pictures.width(), pictures.height());
    const cv::Rect region = region_of(faces, whole.width, whole.height);
    for (std::int64_t i = 0; i < pictures.frame_count(); ++i) {
      throw_if_stopped(stop);
      Image frame = pictures.frame(i);
      const cv::Mat bgr(frame.height, frame.width, CV_8UC3, frame.view().data,
                        static_cast<std::size_t>(frame.view().stride));
      cv::Mat grey;
      cv::cvtColor(bgr, grey, cv::COLOR_BGR2GRAY);
      pictures_.push_back(thumbnail(grey, whole));
      faces_.push_back(thumbnail(grey, region));
      if (progress)
        progress("matching", static_cast<std::size_t>(i + 1),
                 static_cast<std::size_t>(pictures.frame_count()));
    }
  }

  // Grey levels, root mean square: a blink counts, though it is small.
  double difference(std::int64_t a, std::int64_t b) const {
    return (distance(pictures_, a, b) + distance(faces_, a, b)) / 2;
  }

 private:
  static double distance(const std::vector<cv::Mat>& all, std::int64_t a, std::int64_t b) {
    const cv::Mat& one = all[static_cast<std::size_t>(a)];
    return cv::norm(one, all[static_cast<std::size_t>(b)], cv::NORM_L2) /
           std::sqrt(static_cast<double>(one.total()));
  }

  std::vector<cv::Mat> pictures_{}, faces_{};
};

std::int64_t last_of(const AvatarClip& clip) { return clip.first + clip.frames - 1; }

bool goes_round(const Thumbnails& thumbnails, const AvatarClip& clip) {
  if (clip.frames < 2) return false;
  std::vector<double> steps;
  for (std::int64_t i = clip.first; i < last_of(clip); ++i)
    steps.push_back(thumbnails.difference(i, i + 1));
  const auto middle = steps.begin() + std::ssize(steps) / 2;
  std::ranges::nth_element(steps, middle);
  return thumbnails.difference(last_of(clip), clip.first) <= k_loop_times * *middle + k_loop_levels;
}

Transition best_entry(const Thumbnails& thumbnails, const AvatarClip& from, std::int64_t frame,
                      const AvatarClip& into, const FrameRate& fps) {
  const std::int64_t candidates = open_frames(into, fps);
  const std::int64_t step = std::max<std::int64_t>(1, from.frames * candidates / k_most_pairs);
  Transition best{.entry = into.first, .difference = std::numeric_limits<float>::max()};
  for (std::int64_t entry = into.first; entry < into.first + candidates; entry += step) {
    double sum = 0;
    for (const std::int64_t later : k_looked_at) {
      if (sum >= best.difference) break;
      sum += thumbnails.difference(std::min(frame + later, last_of(from)),
                                   std::min(entry + later, last_of(into)));
    }
    if (sum < best.difference) best = {.entry = entry, .difference = static_cast<float>(sum)};
  }
  best.difference /= static_cast<float>(std::size(k_looked_at));
  return best;
}

}  // namespace

std::int64_t open_frames(const AvatarClip& clip, const FrameRate& fps) {
  if (is_state(clip.name)) return clip.frames;
  const auto half_a_second = static_cast<std::int64_t>(fps.hz() / 2);
  return std::clamp<std::int64_t>(clip.frames / 4, 1, std::max<std::int64_t>(1, half_a_second));
}

Transitions match_clips(Clip& pictures, const Faces& faces, AvatarInfo& info,
                        const Progress& progress, const std::stop_token& stop) {
  const Thumbnails thumbnails(pictures, faces, progress, stop);
  for (std::size_t i = 1; i < info.clips.size(); ++i)
    if (is_state(info.clips[i].name)) info.clips[i].loop = goes_round(thumbnails, info.clips[i]);
  std::vector<Transition> rows;
  for (const AvatarClip& from : info.clips) {
    for (std::int64_t frame = from.first; frame <= last_of(from); ++frame) {
      throw_if_stopped(stop);
      for (const AvatarClip& into : info.clips)
        rows.push_back(&from == &into ? Transition{.entry = frame}
                                      : best_entry(thumbnails, from, frame, into, info.fps));
    }
  }
  return {info.clips.size(), std::move(rows)};
}

std::vector<UnlikeClip> unlike_clips(const Transitions& transitions, const AvatarInfo& info) {
  std::vector<UnlikeClip> unlike;
  for (std::size_t clip = 1; clip < info.clips.size(); ++clip) {
    const AvatarClip& speaking = info.clips.front();
    double least = transitions.into(clip, speaking.first).difference;
    for (std::int64_t frame = speaking.first; frame <= last_of(speaking); ++frame)
      least = std::min<double>(least, transitions.into(clip, frame).difference);
    if (least > k_jump) unlike.push_back({info.clips[clip].name, least});
  }
  return unlike;
}

}  // namespace navtalk
