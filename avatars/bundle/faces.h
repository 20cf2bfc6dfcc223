// faces.json: where the face is in every frame of an avatar, and which mask belongs to it.
// docs/avatar-format.md describes it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "avatars/bundle/avatar_info.h"
#include "core/tensor/image.h"
#include "gpu/image/compose.h"

namespace navtalk {

// In the frame's pixels; may lie outside of it.
struct FacePoint {
  int x = 0, y = 0;
  bool operator==(const FacePoint&) const = default;
};
// MuseTalk's 68 points of a face, or none.
using FacePoints = std::vector<FacePoint>;
inline constexpr std::size_t k_face_point_count = 68;

// One frame's geometry. A frame without a face has none and is shown untouched.
struct AvatarFace {
  Placement placement;
  Box mask_region;  // in the crop box's coordinates: the part that the mask covers; in the face box
  int mask = 0;     // which one: faces of one size share a geometric mask
  FacePoints landmarks =
      {};  // what the box comes from, to be shown; empty where it comes from elsewhere
};

using Faces = std::vector<std::optional<AvatarFace>>;

std::int64_t count_faces(const Faces& faces);

// Error{not_found}, or Error{invalid} naming file, frame and key: the number of frames is not
// `info`'s, a box leaves its frame (in version 1; later, lies outside of it), a mask region leaves
// its face box.
Faces read_faces(const std::filesystem::path& file, const AvatarInfo& info);
// The same faces give the same bytes; Error{failed}.
void write_faces(const std::filesystem::path& file, const Faces& faces);

}  // namespace navtalk
