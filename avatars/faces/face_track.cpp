#include "avatars/faces/face_track.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/base/error.h"

namespace navtalk {
namespace {

constexpr double k_same_face = 0.3;        // overlap from one detection to the next
constexpr double k_comparable_area = 0.4;  // of a second face, against the first
constexpr double k_staying = 0.25;         // share of the first face's frames

struct Track {
  std::vector<std::optional<Box>> boxes;  // one entry a frame
  std::size_t last_seen = 0;
  std::size_t detections = 0;
  double area = 0;  // sum over the detections
};

double area(const Box& box) { return static_cast<double>(box.width()) * box.height(); }

struct Link {
  double overlap;
  std::size_t track, detection;
};

// Every pair of a track still in sight and a detection that could be the same face, best first.
std::vector<Link> possible_links(const std::vector<Track>& tracks, const Detections& seen,
                                 std::size_t frame, int patience) {
  std::vector<Link> links;
  for (std::size_t t = 0; t < tracks.size(); ++t) {
    if (frame - tracks[t].last_seen > static_cast<std::size_t>(patience)) continue;
    const Box& last = *tracks[t].boxes[tracks[t].last_seen];
    for (std::size_t d = 0; d < seen.size(); ++d) {
      const double shared = overlap(last, seen[d]);
      if (shared >= k_same_face) links.push_back({shared, t, d});
    }
  }
  std::stable_sort(links.begin(), links.end(),
                   [](const Link& a, const Link& b) { return a.overlap > b.overlap; });
  return links;
}

void add(Track& track, std::size_t frame, const Box& box) {
  track.boxes[frame] = box;
  track.last_seen = frame;
  ++track.detections;
  track.area += area(box);
}

std::vector<Track> link_tracks(const std::vector<Detections>& frames, const FrameRate& fps) {
  const int patience = static_cast<int>(std::lround(fps.hz()));  // a second
  std::vector<Track> tracks;
  for (std::size_t frame = 0; frame < frames.size(); ++frame) {
    Detections seen = frames[frame];
    std::sort(seen.begin(), seen.end(), [](const Box& a, const Box& b) {
      return std::pair(a.x1, a.y1) < std::pair(b.x1, b.y1);
    });
    std::vector<bool> linked(seen.size(), false);
    for (const Link& link : possible_links(tracks, seen, frame, patience)) {
      if (linked[link.detection] || tracks[link.track].last_seen == frame) continue;
      add(tracks[link.track], frame, seen[link.detection]);
      linked[link.detection] = true;
    }
    for (std::size_t d = 0; d < seen.size(); ++d) {
      if (linked[d]) continue;
      tracks.push_back({.boxes = std::vector<std::optional<Box>>(frames.size())});
      add(tracks.back(), frame, seen[d]);
    }
  }
  return tracks;
}

bool meet(const Track& a, const Track& b) {
  for (std::size_t i = 0; i < a.boxes.size(); ++i)
    if (a.boxes[i] && b.boxes[i]) return true;
  return false;
}

bool comparable(const Track& track, const Track& main) {
  const double ratio = (track.area / static_cast<double>(track.detections)) /
                       (main.area / static_cast<double>(main.detections));
  return ratio >= k_comparable_area && ratio <= 1 / k_comparable_area;
}

std::string place_of(const Box& box) {
  return fmt::format("{},{},{},{}", box.x1, box.y1, box.width(), box.height());
}

void refuse_second_face(const std::vector<Detections>& frames, const Track& face) {
  std::size_t beside = 0;
  Box example, main;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    if (!face.boxes[i]) continue;
    const auto second = std::find_if(frames[i].begin(), frames[i].end(), [&](const Box& other) {
      return area(other) >= k_comparable_area * area(*face.boxes[i]) &&
             overlap(other, *face.boxes[i]) == 0;
    });
    if (second == frames[i].end()) continue;
    if (beside++ > 0) continue;
    example = *second;
    main = *face.boxes[i];
  }
  if (static_cast<double>(beside) < k_staying * static_cast<double>(face.detections) || beside == 0)
    return;
  throw Error(Code::invalid,
              fmt::format("a second face of comparable size is in {} of {} frames: first at {} "
                          "beside {} (x,y,width,height). Crop one away, or name the avatar's face "
                          "with --face-box",
                          beside, frames.size(), place_of(example), place_of(main)));
}

}  // namespace

double overlap(const Box& a, const Box& b) {
  const Box both{std::max(a.x1, b.x1), std::max(a.y1, b.y1), std::min(a.x2, b.x2),
                 std::min(a.y2, b.y2)};
  if (both.empty()) return 0;
  return area(both) / (area(a) + area(b) - area(both));
}

std::vector<std::optional<Box>> follow_face(const std::vector<Detections>& frames,
                                            const FrameRate& fps) {
  std::vector<Track> tracks = link_tracks(frames, fps);
  // A face that only a few frames of a longer clip show is an error of the detector.
  const std::size_t least = std::clamp<std::size_t>(frames.size() / 25, 1, 5);
  std::erase_if(tracks, [&](const Track& track) { return track.detections < least; });
  std::stable_sort(tracks.begin(), tracks.end(),
                   [](const Track& a, const Track& b) { return a.area > b.area; });
  if (tracks.empty())
    throw Error(Code::invalid,
                "no face was found: the face must look at the camera, upright and well lit; "
                "or give its position with --face-box");
  Track& face = tracks.front();
  for (std::size_t t = 1; t < tracks.size(); ++t) {
    if (meet(face, tracks[t]) || !comparable(tracks[t], face)) continue;
    for (std::size_t i = 0; i < frames.size(); ++i)
      if (tracks[t].boxes[i]) add(face, i, *tracks[t].boxes[i]);
  }
  refuse_second_face(frames, face);
  return face.boxes;
}

}  // namespace navtalk
