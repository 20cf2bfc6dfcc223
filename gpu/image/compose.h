// Puts a generated face back into its frame: resize to the box, optionally sharpen and match the
// colours, blend through the mask. Single-threaded and re-entrant.
#pragma once

#include <optional>

#include "core/tensor/image.h"
#include "gpu/image/unsharp.h"

namespace navtalk {

struct Placement {
  Box box;       // where the face goes; may touch or cross the frame's edge
  Box crop_box;  // the square that the mask covers; may reach outside the frame
};

// What is done to the face before it is blended; with neither the pixels are MuseTalk's.
struct FaceFinish {
  std::optional<Unsharp> unsharp{};
  bool match_colour = false;  // match_colours() with the frame, after sharpening
  bool operator==(const FaceFinish&) const = default;
};

// frame: BGR, changed in place only inside the box; face: [256,256,3] BGR; mask: one channel.
// `mask` either has the crop box's size, or only covers `mask_region` of it (coordinates inside the
// crop box; zero outside). Only the part of the face that the mask can show is computed.
// Error{invalid} where the mask's size does not fit or the box is empty.
void compose(ImageView frame, ConstImageView face, const Placement& placement, ConstImageView mask,
             std::optional<Box> mask_region = std::nullopt, const FaceFinish& finish = {});

}  // namespace navtalk
