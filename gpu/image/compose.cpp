// Three coordinate systems: the frame's, the face box's (where the resized face lies) and the crop
// box's (where the mask lies).
//
//   frame
//   +-----------------------+
//   |  crop box             |
//   |  +-----------------+  |   shown  = frame ∩ box ∩ crop box ∩ mask region: all that can change
//   |  |   box           |  |   needed = shown, and the blur's reach around it when sharpening
//   |  |   +---------+   |  |
//   |  |   |  face   |   |  |
//   |  |   | (shown) |   |  |
//   |  |   +---------+   |  |
//   |  +-----------------+  |
//   +-----------------------+
//
// MuseTalk pastes the face into a copy of the crop box and the copy into the frame. Outside the box
// that copy equals the frame, so blending it changes nothing there, and the copy need not be made.
#include "gpu/image/compose.h"

#include <string>

#include "core/base/error.h"
#include "gpu/image/blend.h"
#include "gpu/image/colour_match.h"
#include "gpu/image/resize.h"

namespace navtalk {
namespace {

Box grown(const Box& box, int by) { return {box.x1 - by, box.y1 - by, box.x2 + by, box.y2 + by}; }

std::string size_name(int width, int height) {
  return std::to_string(width) + "x" + std::to_string(height);
}

Box checked_region(const Placement& placement, ConstImageView mask,
                   const std::optional<Box>& mask_region) {
  if (placement.box.empty())
    throw Error(Code::invalid, "the face box is empty; prepare the avatar again");
  const Box region =
      mask_region.value_or(Box{0, 0, placement.crop_box.width(), placement.crop_box.height()});
  if (mask.channels != 1 || mask.width != region.width() || mask.height != region.height())
    throw Error(Code::invalid, "the mask is " + size_name(mask.width, mask.height) + " with " +
                                   std::to_string(mask.channels) +
                                   " channel(s), its region of the crop box " +
                                   size_name(region.width(), region.height()) +
                                   " with one; prepare the avatar again");
  return region;
}

// The pixels `part` of the face after it was resized to width x height.
Image resized_part(ConstImageView face, int width, int height, const Box& part) {
  Image image(part.width(), part.height(), face.channels);
  resize_part(face, width, height, part, image.view(), Interpolation::linear);
  return image;
}

}  // namespace

void compose(ImageView frame, ConstImageView face, const Placement& placement, ConstImageView mask,
             std::optional<Box> mask_region, const FaceFinish& finish) {
  const Box& box = placement.box;
  const Box region = checked_region(placement, mask, mask_region);
  const Box masked =
      intersection(region.moved(placement.crop_box.x1, placement.crop_box.y1), placement.crop_box);
  const Box shown = intersection(intersection(box, masked), Box{0, 0, frame.width, frame.height});
  if (shown.empty()) return;

  const Box needed = finish.unsharp ? intersection(grown(shown, k_unsharp_reach), box) : shown;
  Image pixels = resized_part(face, box.width(), box.height(), needed.moved(-box.x1, -box.y1));
  if (finish.unsharp) {
    Image sharp(pixels.width, pixels.height, pixels.channels);
    unsharp_mask(pixels.view(), sharp.view(), *finish.unsharp);
    pixels = std::move(sharp);
  }
  const Box in_mask =
      shown.moved(-placement.crop_box.x1 - region.x1, -placement.crop_box.y1 - region.y1);
  const ImageView part = pixels.view().crop(shown.moved(-needed.x1, -needed.y1));
  if (finish.match_colour) match_colours(part, frame.crop(shown), mask.crop(in_mask));
  blend(frame.crop(shown), part, mask.crop(in_mask));
}

}  // namespace navtalk
