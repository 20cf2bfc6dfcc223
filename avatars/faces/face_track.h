// Which of the faces seen in each frame is the avatar's. Detections that overlap from frame to frame and look alike form a track. Tracks in
// other frames that look alike are one person's, who left and came back, or was shown by another camera; a track that looks otherwise is
// somebody else's, even where it is in the same place. People are numbered by their total area, the largest is 1.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "avatars/faces/search/seen_faces.h"
#include "core/base/frame_rate.h"
#include "core/tensor/image.h"

namespace navtalk {

struct FollowedFace {
  std::vector<std::optional<Box>> boxes;  // one entry a frame
  // One entry a frame: the faces of other people while this one is not seen. Whoever is seen in one frame of that while is there in
  // all of it.
  std::vector<Detections> instead{};
  // The faces of comparable size that are there in a quarter or more of the largest one's frames, by number and
  // place, where there is more than one; for people. Empty: there is one.
  std::string others{};
};

// What one detector sees in `frames`, with the people whom it misses as another one sees them in `others` (as many frames): those whom it
// sees in less than three quarters of the frames in which the other does. They are then the other's in all frames.
std::vector<SeenFaces> with_missed_people(std::vector<SeenFaces> frames,
                                          const std::vector<SeenFaces>& others,
                                          const FrameRate& fps);

// `number`: from 1. Error{invalid} when there is no face at all, or none of that number.
FollowedFace follow_face(const std::vector<SeenFaces>& frames, const FrameRate& fps,
                         int number = 1);

// A dropout that is bridged with `box`: somebody else's face is there.
bool is_anothers(const FollowedFace& followed, std::size_t frame, const Box& box);

// For people who did not say which face they want.
void warn_of_others(const FollowedFace& followed);

// Area of the intersection over area of the union, 0 to 1.
double overlap(const Box& a, const Box& b);

// Whether they overlap as two detections of one face do.
bool same_place(const Box& a, const Box& b);

}  // namespace navtalk
