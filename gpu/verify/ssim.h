// How alike two pictures look.
#pragma once

#include "core/tensor/image.h"

namespace navtalk {

// Structural similarity as Wang, Bovik, Sheikh and Simoncelli defined it ("Image quality assessment: from error visibility to structural
// similarity", 2004): Gaussian windows of 11x11 pixels, sigma 1.5, K1 = 0.01, K2 = 0.03 of 255 levels, the mean over all windows that lie inside
// and over the channels. 1 for equal pictures. Both have one size, at least 11x11.
double ssim(ConstImageView a, ConstImageView b);

}  // namespace navtalk
