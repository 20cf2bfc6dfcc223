// One face through a clip by OpenCV's frontal cascades from Debian's opencv-data. They want an upright face that looks roughly at the
// camera.
#pragma once

#include <filesystem>
#include <stop_token>
#include <vector>

#include "avatars/bundle/clip.h"
#include "avatars/faces/face_track.h"
#include "core/base/frame_rate.h"
#include "core/base/progress.h"

namespace navtalk {

// What a user may ask of the finders that follow a face by cascades.
struct FollowOptions {
  bool smooth =
      true;  // over time; otherwise dropouts are bridged, and the boxes are those of single frames
  int face = 0;  // as in follow_by_cascades()
};

// Where opencv-data may lie.
std::vector<std::filesystem::path> cascade_directories();

// `face`: which one, from 1 by size; 0: the largest, with a warning where others stay beside it. `directories`: the first that has a file
// wins. The preferred cascade that sees a face in half of the frames serves, else the one that sees most; people whom it misses are
// those of the last cascade, which sees faces with glasses. The boxes are squares, one entry
// a frame, nullopt where nothing was seen. `notes`: as FaceSource::find(). Stage "faces". Error{not_found} without cascade files; Error{invalid} for no face, or none of
// that number.
FollowedFace follow_by_cascades(Clip& clip, const FrameRate& fps, int face,
                                const std::vector<std::filesystem::path>& directories,
                                const std::filesystem::path& notes, const Progress& progress,
                                const std::stop_token& stop);

}  // namespace navtalk
