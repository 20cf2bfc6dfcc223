#include "avatars/faces/face_track.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/base/error.h"
#include "core/log/log.h"

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

// Of those that `track` does not meet, the one that was last seen nearest, measured in widths of its box.
Track* person_of(std::vector<Track>& people, const Track& track) {
  const auto first = std::find_if(track.boxes.begin(), track.boxes.end(),
                                  [](const auto& box) { return box.has_value(); });
  const Box& begins = **first;
  Track* nearest = nullptr;
  double least = 0;
  for (Track& person : people) {
    if (meet(person, track) || !comparable(track, person)) continue;
    const Box& last = *person.boxes[person.last_seen];
    const double distance = std::hypot(begins.x1 + begins.x2 - last.x1 - last.x2,
                                       begins.y1 + begins.y2 - last.y1 - last.y2) /
                            last.width();
    if (nearest != nullptr && distance >= least) continue;
    nearest = &person;
    least = distance;
  }
  return nearest;
}

// The largest first. A face that leaves and comes back is one.
std::vector<Track> people_in(std::vector<Track> tracks) {
  const auto larger = [](const Track& a, const Track& b) { return a.area > b.area; };
  std::stable_sort(tracks.begin(), tracks.end(), larger);
  std::vector<Track> people;
  for (Track& track : tracks) {
    Track* const person = person_of(people, track);
    if (person == nullptr) {
      people.push_back(std::move(track));
      continue;
    }
    const std::size_t last_seen = std::max(person->last_seen, track.last_seen);
    for (std::size_t i = 0; i < track.boxes.size(); ++i)
      if (track.boxes[i]) add(*person, i, *track.boxes[i]);
    person->last_seen = last_seen;
  }
  std::stable_sort(people.begin(), people.end(), larger);
  return people;
}

// Those who stay beside the largest.
std::size_t staying(const std::vector<Track>& people) {
  const Track& largest = people.front();
  return static_cast<std::size_t>(
      std::count_if(people.begin(), people.end(), [&](const Track& person) {
        return static_cast<double>(person.detections) >=
                   k_staying * static_cast<double>(largest.detections) &&
               (comparable(person, largest) || &person == &largest);
      }));
}

std::string where(const std::vector<Track>& people, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < std::min(count, people.size()); ++i) {
    const auto first = std::find_if(people[i].boxes.begin(), people[i].boxes.end(),
                                    [](const auto& box) { return box.has_value(); });
    text += fmt::format("{}{} at {} in frame {}", i == 0 ? "" : "; ", i + 1, place_of(**first),
                        first - people[i].boxes.begin());
  }
  return text;
}

}  // namespace

double overlap(const Box& a, const Box& b) {
  const Box both{std::max(a.x1, b.x1), std::max(a.y1, b.y1), std::min(a.x2, b.x2),
                 std::min(a.y2, b.y2)};
  if (both.empty()) return 0;
  return area(both) / (area(a) + area(b) - area(both));
}

FollowedFace follow_face(const std::vector<Detections>& frames, const FrameRate& fps, int number) {
  std::vector<Track> tracks = link_tracks(frames, fps);
  // A face that only a few frames of a longer clip show is an error of the detector.
  const std::size_t least = std::clamp<std::size_t>(frames.size() / 25, 1, 5);
  std::erase_if(tracks, [&](const Track& track) { return track.detections < least; });
  if (tracks.empty())
    throw Error(Code::invalid,
                "no face was found: the face must look at the camera, upright and well lit; "
                "or give its position with --face-box");
  const std::vector<Track> people = people_in(std::move(tracks));
  const auto chosen = static_cast<std::size_t>(number - 1);
  if (chosen >= people.size())
    throw Error(Code::invalid,
                fmt::format("--face {}: there {} (x,y,width,height): {}", number,
                            people.size() == 1 ? std::string("is one face")
                                               : fmt::format("are {} faces", people.size()),
                            where(people, people.size())));
  FollowedFace face{.boxes = people[chosen].boxes};
  const std::size_t beside = staying(people);
  if (beside > 1) face.others = where(people, beside);
  return face;
}

void warn_of_others(const FollowedFace& followed) {
  log::warn(
      "more than one face stays in the picture: the largest is the avatar's; choose one with "
      "--face N",
      {{"faces", followed.others}});
}

}  // namespace navtalk
