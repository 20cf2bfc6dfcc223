// The masks of a clip's faces, written as they are made. An interrupted run is taken up behind its last mask.
#pragma once

#include <filesystem>
#include <stop_token>

#include "avatars/bundle/clip.h"
#include "avatars/bundle/faces.h"
#include "avatars/faces/face_source.h"
#include "avatars/faces/mask_source.h"
#include "core/base/progress.h"

namespace navtalk {

// In the folder, until its user has kept what make_masks() says.
inline constexpr const char* k_mask_log = "masks.log";

// Writes masks.safetensors into `folder`, and says which mask each face has. `source` null: the built-in mask, once for each size. Stage "masks" with a source. Error{invalid} where a source
// finds no part of a face in any frame.
Faces make_masks(Clip& clip, const FaceBoxes& boxes, MaskSource* source,
                 const std::filesystem::path& folder, const Progress& progress,
                 const std::stop_token& stop);

}  // namespace navtalk
