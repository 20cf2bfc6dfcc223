// What a detector sees in one frame, and what each of these faces looks like; and how a FrameLog keeps that and landmarks.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "avatars/bundle/faces.h"
#include "avatars/faces/search/face_look.h"
#include "core/tensor/image.h"

namespace navtalk {

// Everything that a detector saw in one frame, in any order.
using Detections = std::vector<Box>;

struct SeenFace {
  Box box{};
  FaceLook look{};
  bool operator==(const SeenFace&) const = default;
};
using SeenFaces = std::vector<SeenFace>;

SeenFaces look_at(const ConstImageView& picture, const Detections& faces);

std::vector<std::int32_t> numbers_of(const SeenFaces& faces);
std::vector<std::int32_t> numbers_of(const FacePoints& points);
// nullopt: the numbers are no such thing. Points: all of a face, or none.
std::optional<SeenFaces> read_seen_faces(std::span<const std::int32_t> numbers);
std::optional<FacePoints> read_face_points(std::span<const std::int32_t> numbers);

}  // namespace navtalk
