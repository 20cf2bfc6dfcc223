// The faces that were found in a clip, in a file of the partial folder until their masks are made, so that an interrupted
// preparation does not look for them again.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "avatars/faces/face_source.h"

namespace navtalk {

struct FoundFaces {
  FaceBoxes boxes;
  std::vector<FacePoints> landmarks{};  // one entry a frame, or none at all
};

// Error{failed}.
void write_found_faces(const std::filesystem::path& file, const FoundFaces& found);
// nullopt where there is no such file, or one that is damaged or of another number of frames.
std::optional<FoundFaces> read_found_faces(const std::filesystem::path& file, std::int64_t frames);

}  // namespace navtalk
