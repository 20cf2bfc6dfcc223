#include "avatars/faces/face_track.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "core/base/error.h"
#include "core/log/log.h"

namespace navtalk {
namespace {

constexpr double k_same_face = 0.3;        // overlap from one detection to the next
constexpr double k_comparable_area = 0.4;  // of a second face, against the first
constexpr double k_staying = 0.25;         // share of the first face's frames
constexpr double k_well_seen = 0.75;       // share of another detector's frames
// look_distance() of one person's faces in a clip is at most 0.10 in 95 of 100 pairs (0.19 in all) and least of two people's was 0.22. A
// detector that frames the face a little differently each time adds to it.
constexpr double k_other_look = 0.20;  // in the same place
constexpr double k_same_look = 0.16;   // elsewhere
constexpr double k_near = 1.0;         // the same place, in widths of the face
// What a width of the face's way counts for among people who look alike, and the most widths that count.
constexpr double k_look_per_width = 0.02, k_most_widths = 5;
constexpr std::size_t k_most_looks = 16;  // that are remembered of a track

struct Sighting {
  std::size_t frame;
  Box box;
};

double area(const Box& box) { return static_cast<double>(box.width()) * box.height(); }

// Looks of a track, evenly spread over it.
class Looks {
 public:
  void add(const FaceLook& look) {
    last_ = look;
    if (count_++ % every_ != 0) return;
    kept_.push_back(look);
    if (kept_.size() > k_most_looks) thin_out();
  }
  void add(const Looks& more) {
    kept_.insert(kept_.end(), more.kept_.begin(), more.kept_.end());
    while (kept_.size() > 2 * k_most_looks) thin_out();
  }
  double to_last(const FaceLook& look) const { return look_distance(last_, look); }
  // Of those two that are nearest to each other.
  double to(const Looks& others) const {
    double least = 1;
    for (const FaceLook& own : kept_)
      for (const FaceLook& other : others.kept_) least = std::min(least, look_distance(own, other));
    return least;
  }

 private:
  void thin_out() {
    for (std::size_t i = 0; 2 * i < kept_.size(); ++i) kept_[i] = kept_[2 * i];
    kept_.resize((kept_.size() + 1) / 2);
    every_ *= 2;
  }

  std::vector<FaceLook> kept_{};
  FaceLook last_{};
  std::size_t count_ = 0, every_ = 1;
};

// Of one face; later of one person.
struct Track {
  std::vector<Sighting> seen{};  // at least one, by frame
  Looks looks{};
  double area = 0;  // sum over what was seen

  void add(std::size_t frame, const SeenFace& face) {
    seen.push_back({frame, face.box});
    looks.add(face.look);
    area += navtalk::area(face.box);
  }
};

struct Link {
  double overlap;
  std::size_t track, detection;
};

// Every pair of a track still in sight and a detection that could be the same face, best first.
std::vector<Link> possible_links(const std::vector<Track>& tracks,
                                 const std::vector<std::size_t>& in_sight, const SeenFaces& seen) {
  std::vector<Link> links;
  for (const std::size_t t : in_sight)
    for (std::size_t d = 0; d < seen.size(); ++d) {
      const double shared = overlap(tracks[t].seen.back().box, seen[d].box);
      if (shared >= k_same_face && tracks[t].looks.to_last(seen[d].look) < k_other_look)
        links.push_back({shared, t, d});
    }
  std::stable_sort(links.begin(), links.end(),
                   [](const Link& a, const Link& b) { return a.overlap > b.overlap; });
  return links;
}

std::vector<Track> link_tracks(const std::vector<SeenFaces>& frames, const FrameRate& fps) {
  const auto patience = static_cast<std::size_t>(std::lround(fps.hz()));  // a second
  std::vector<Track> tracks;
  std::vector<std::size_t> in_sight;
  for (std::size_t frame = 0; frame < frames.size(); ++frame) {
    SeenFaces seen = frames[frame];
    std::sort(seen.begin(), seen.end(), [](const SeenFace& a, const SeenFace& b) {
      return std::pair(a.box.x1, a.box.y1) < std::pair(b.box.x1, b.box.y1);
    });
    std::erase_if(in_sight,
                  [&](std::size_t t) { return frame - tracks[t].seen.back().frame > patience; });
    std::vector<bool> linked(seen.size(), false);
    for (const Link& link : possible_links(tracks, in_sight, seen)) {
      if (linked[link.detection] || tracks[link.track].seen.back().frame == frame) continue;
      tracks[link.track].add(frame, seen[link.detection]);
      linked[link.detection] = true;
    }
    for (std::size_t d = 0; d < seen.size(); ++d) {
      if (linked[d]) continue;
      in_sight.push_back(tracks.size());
      tracks.emplace_back().add(frame, seen[d]);
    }
  }
  return tracks;
}

bool meet(const Track& a, const Track& b) {
  auto one = a.seen.begin();
  auto other = b.seen.begin();
  while (one != a.seen.end() && other != b.seen.end()) {
    if (one->frame == other->frame) return true;
    one->frame < other->frame ? ++one : ++other;
  }
  return false;
}

bool comparable(const Track& track, const Track& main) {
  const double ratio = (track.area / static_cast<double>(track.seen.size())) /
                       (main.area / static_cast<double>(main.seen.size()));
  return ratio >= k_comparable_area && ratio <= 1 / k_comparable_area;
}

std::string place_of(const Box& box) {
  return fmt::format("{},{},{},{}", box.x1, box.y1, box.width(), box.height());
}

double widths_between(const Box& from, const Box& to) {
  return std::hypot(to.x1 + to.x2 - from.x1 - from.x2, to.y1 + to.y2 - from.y1 - from.y2) / 2 /
         from.width();
}

// From where `person` was last seen before `track`, or is first seen after it.
double way(const Track& person, const Track& track) {
  const auto after =
      std::ranges::lower_bound(person.seen, track.seen.front().frame, {}, &Sighting::frame);
  if (after != person.seen.begin())
    return widths_between(std::prev(after)->box, track.seen.front().box);
  return widths_between(after->box, track.seen.back().box);
}

// Of those who look like `track` and do not meet it, the one who looks most like it; of equals the nearest.
Track* person_of(std::vector<Track>& people, const Track& track) {
  Track* likeliest = nullptr;
  double least = 0;
  for (Track& person : people) {
    if (!comparable(track, person) || meet(person, track)) continue;
    const double look = person.looks.to(track.looks), widths = way(person, track);
    if (look >= (widths <= k_near ? k_other_look : k_same_look)) continue;
    const double unlike = look + k_look_per_width * std::min(widths, k_most_widths);
    if (likeliest != nullptr && unlike >= least) continue;
    likeliest = &person;
    least = unlike;
  }
  return likeliest;
}

void join(Track& person, const Track& track) {
  std::vector<Sighting> both;
  std::ranges::merge(person.seen, track.seen, std::back_inserter(both), {}, &Sighting::frame,
                     &Sighting::frame);
  person.seen = std::move(both);
  person.looks.add(track.looks);
  person.area += track.area;
}

// The largest first. A face that leaves and comes back is one.
std::vector<Track> people_in(std::vector<Track> tracks) {
  const auto larger = [](const Track& a, const Track& b) { return a.area > b.area; };
  std::stable_sort(tracks.begin(), tracks.end(), larger);
  std::vector<Track> people;
  for (Track& track : tracks) {
    if (Track* const person = person_of(people, track))
      join(*person, track);
    else
      people.push_back(std::move(track));
  }
  std::stable_sort(people.begin(), people.end(), larger);
  return people;
}

// Those who stay beside the largest.
std::size_t staying(const std::vector<Track>& people) {
  const Track& largest = people.front();
  return static_cast<std::size_t>(
      std::count_if(people.begin(), people.end(), [&](const Track& person) {
        return static_cast<double>(person.seen.size()) >=
                   k_staying * static_cast<double>(largest.seen.size()) &&
               (comparable(person, largest) || &person == &largest);
      }));
}

std::string where(const std::vector<Track>& people, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < std::min(count, people.size()); ++i) {
    const Sighting& first = people[i].seen.front();
    text += fmt::format("{}{} at {} in frame {}", i == 0 ? "" : "; ", i + 1, place_of(first.box),
                        first.frame);
  }
  return text;
}

// Whoever was seen once while the face was away was there all the time, although no other frame shows it to the detector.
void fill_absences(FollowedFace& face) {
  const std::size_t count = face.boxes.size();
  for (std::size_t begin = 0; begin < count; ++begin) {
    if (face.boxes[begin]) continue;
    std::size_t end = begin;
    Detections seen;
    for (; end < count && !face.boxes[end]; ++end)
      seen.insert(seen.end(), face.instead[end].begin(), face.instead[end].end());
    for (; begin < end; ++begin)
      if (face.instead[begin].empty()) face.instead[begin] = seen;
  }
}

// A face that only a few frames of a longer clip show is an error of the detector.
std::vector<Track> lasting_tracks(const std::vector<SeenFaces>& frames, const FrameRate& fps) {
  std::vector<Track> tracks = link_tracks(frames, fps);
  const std::size_t least = std::clamp<std::size_t>(frames.size() / 25, 1, 5);
  std::erase_if(tracks, [&](const Track& track) { return track.seen.size() < least; });
  return tracks;
}

auto is_at(const Box& place) {
  return [place](const SeenFace& face) { return same_place(face.box, place); };
}

}  // namespace

double overlap(const Box& a, const Box& b) {
  const Box both{std::max(a.x1, b.x1), std::max(a.y1, b.y1), std::min(a.x2, b.x2),
                 std::min(a.y2, b.y2)};
  if (both.empty()) return 0;
  return area(both) / (area(a) + area(b) - area(both));
}

bool same_place(const Box& a, const Box& b) { return overlap(a, b) >= k_same_face; }

std::vector<SeenFaces> with_missed_people(std::vector<SeenFaces> frames,
                                          const std::vector<SeenFaces>& others,
                                          const FrameRate& fps) {
  for (const Track& person : people_in(lasting_tracks(others, fps))) {
    const auto seen = std::ranges::count_if(person.seen, [&](const Sighting& one) {
      return std::ranges::any_of(frames[one.frame], is_at(one.box));
    });
    if (static_cast<double>(seen) >= k_well_seen * static_cast<double>(person.seen.size()))
      continue;
    for (const Sighting& one : person.seen) {
      std::erase_if(frames[one.frame], is_at(one.box));
      const auto face = std::ranges::find(others[one.frame], one.box, &SeenFace::box);
      frames[one.frame].push_back(*face);
    }
  }
  return frames;
}

FollowedFace follow_face(const std::vector<SeenFaces>& frames, const FrameRate& fps, int number) {
  std::vector<Track> tracks = lasting_tracks(frames, fps);
  if (tracks.empty())
    throw Error(
        Code::invalid,
        "no face was found: the face must look at the camera, upright, well lit, and be as wide "
        "as a tenth of the picture; "
        "or give its position with --face-box");
  const std::vector<Track> people = people_in(std::move(tracks));
  const auto chosen = static_cast<std::size_t>(number - 1);
  if (chosen >= people.size())
    throw Error(Code::invalid,
                fmt::format("--face {}: there {} (x,y,width,height): {}", number,
                            people.size() == 1 ? std::string("is one face")
                                               : fmt::format("are {} faces", people.size()),
                            where(people, people.size())));
  FollowedFace face{.boxes = std::vector<std::optional<Box>>(frames.size()),
                    .instead = std::vector<Detections>(frames.size())};
  for (const Sighting& one : people[chosen].seen) face.boxes[one.frame] = one.box;
  for (const Track& person : people)
    for (const Sighting& one : person.seen)
      if (!face.boxes[one.frame]) face.instead[one.frame].push_back(one.box);
  fill_absences(face);
  const std::size_t beside = staying(people);
  if (beside > 1) face.others = where(people, beside);
  return face;
}

bool is_anothers(const FollowedFace& followed, std::size_t frame, const Box& box) {
  return std::ranges::any_of(followed.instead[frame],
                             [&](const Box& other) { return same_place(box, other); });
}

void warn_of_others(const FollowedFace& followed) {
  log::warn(
      "more than one face is in the clip: the avatar's is the one with the largest area in all "
      "frames together; choose one with "
      "--face N",
      {{"faces", followed.others}});
}

}  // namespace navtalk
