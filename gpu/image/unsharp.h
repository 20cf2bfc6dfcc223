// Unsharp mask: adds back what a small blur takes away. Not part of MuseTalk; off by default.
// Single-threaded and re-entrant; the destination must not overlap the source.
#pragma once

#include "core/tensor/image.h"
#include "gpu/image/batch.h"

namespace navtalk {

struct Unsharp {
  float amount = 1.2F;  // 0 to 100
  float sigma = 1.0F;   // of the blur, which has k_unsharp_reach pixels on either side
  int threshold = 5;    // a value stays where |source - blurred| is below it
  bool operator==(const Unsharp&) const = default;
};
inline constexpr int k_unsharp_reach = 2;

// clamp(round((1 + amount) * source - amount * blurred)), halves to even.
void unsharp_mask(ConstImageView source, ImageView destination, const Unsharp& unsharp);
void unsharp_mask(ConstBatchView source, BatchView destination, const Unsharp& unsharp);

}  // namespace navtalk
