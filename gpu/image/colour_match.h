// Brings the colours of a generated face to those of the frame that it is blended into. Not part of
// MuseTalk; off by default. Single-threaded and re-entrant.
#pragma once

#include "core/tensor/image.h"

namespace navtalk {

// Where the mask is neither 0 nor 255 both pictures are seen at once: there lies the seam. Each channel of `face` is
// scaled and shifted so that over the seam it has the frame's mean and standard deviation, by at most
// k_most_gain and k_most_shift. A channel whose deviation is below one level, in the face or in the frame, is shifted alone. A seam of
// less than k_least_seam pixels, or more than k_most_seam, changes nothing.
// face, frame: of one size, three channels; mask: of that size, one channel.
void match_colours(ImageView face, ConstImageView frame, ConstImageView mask);

inline constexpr double k_most_gain = 1.25;  // or its inverse
inline constexpr double k_most_shift = 32;   // grey levels of the mean
inline constexpr int k_least_seam = 64;
inline constexpr int k_most_seam = 1 << 24;

}  // namespace navtalk
