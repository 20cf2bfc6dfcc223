// Where the face boxes of a clip come from. One source serves a whole clip: boxes from different
// sources frame the face differently, and a mixture would make it jump.
#pragma once

#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "avatars/bundle/clip.h"
#include "avatars/bundle/faces.h"
#include "core/base/frame_rate.h"
#include "core/base/progress.h"
#include "core/tensor/image.h"

namespace navtalk {

// One entry a frame, inside the frame; nullopt where there is no face.
using FaceBoxes = std::vector<std::optional<Box>>;

// Faces narrower or lower than this have no mouth to speak of; sources refuse them.
inline constexpr int k_least_face_pixels = 40;

// Error{invalid} when the median width of the faces is less than that. Otherwise takes the frames' faces away that are less than half
// as wide or high: they are leaving the picture. At least one box is there.
void refuse_small_faces(FaceBoxes& boxes);

class FaceSource {
 public:
  virtual ~FaceSource() = default;
  // What avatar.json calls it.
  virtual std::string name() const = 0;
  // What the boxes depend on besides the clip: the same text gives the same boxes.
  virtual std::string identity() const = 0;
  // Error{invalid} when no box can be given: no face at all, two faces, ... Stage "faces". `notes`: a folder for what is found on the
  // way, from which an interrupted search of the same clip by a source of the same identity goes on; it may not be there yet. Empty: none.
  virtual FaceBoxes find(Clip& clip, const FrameRate& fps, const std::filesystem::path& notes,
                         const Progress& progress, const std::stop_token& stop) = 0;
  // What the boxes of the last find() come from, one entry a frame, empty where there is no box; nothing at all of a source
  // that has no landmarks.
  virtual std::vector<FacePoints> landmarks() const { return {}; }
};

}  // namespace navtalk
