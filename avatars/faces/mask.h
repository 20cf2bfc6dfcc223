// The mask through which a generated face is blended into its frame, and the square that it lies
// in: MuseTalk's geometry, cut down to what can change. Without face parsing (parsed_masks.h) an ellipse
// stands for the face.
//
//   crop box (side 2s)      face box          ellipse, lower half, blurred
//   +--------------+
//   |   +------+   |   the mask is zero above the middle row s (but for the blur's reach), and
//   |   |      |   |   composition changes nothing outside the face box, so only the part of the
//   |s--|------|---|   mask inside the face box that is not zero is kept: the mask region
//   |   |##mm##|   |
//   |   +------+   |
//   +--------------+
#pragma once

#include "core/tensor/image.h"

namespace navtalk {

struct FaceMask {
  Box crop_box;  // in the frame's coordinates; may reach outside the frame
  Box region;    // in the crop box's coordinates
  Image pixels;  // one channel, the region's size
};

// s = floor(1.5 * (max(w,h) div 2)) around the box's centre.
Box crop_box_of(const Box& face);

// The end of every mask: `sharp`, of the crop box's size, loses what lies outside the face box or above the row s,
// and is blurred with k = 2 floor(2s / 20) + 1. Where nothing is left the region is one pixel of 0.
FaceMask lower_part(const Box& face, Image sharp);

// What of a whole mask, of the crop box's size, can show: the smallest region inside the face box that holds all that is
// not zero, or one pixel of 0 where there is none. The crop box surrounds the face box.
FaceMask shown_part(const Box& face, const Box& crop, ConstImageView whole);

// The built-in mask: a filled ellipse around the centre of the face box with the semi-axes 0.45 w
// and 0.45 h, so that it fades out before the box's edge, then lower_part(). It depends on the box's size alone.
// The box must be at least 8x8.
FaceMask lower_face_mask(const Box& face);

}  // namespace navtalk
