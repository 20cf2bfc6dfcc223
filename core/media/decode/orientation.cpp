#include "core/media/decode/orientation.h"

#include <algorithm>
#include <cstdlib>

namespace navtalk::media {

Orientation orientation(const std::int32_t* matrix) {
  if (matrix == nullptr) return {};
  const std::int64_t a = matrix[0], b = matrix[1], c = matrix[3], d = matrix[4];
  if (std::abs(a) + std::abs(d) >= std::abs(b) + std::abs(c))
    return {.transpose = false, .flip_x = a < 0, .flip_y = d < 0};
  return {.transpose = true, .flip_x = c < 0, .flip_y = b < 0};
}

Image upright(const Image& stored, const Orientation& orientation) {
  const bool turn = orientation.transpose;
  Image result(turn ? stored.height : stored.width, turn ? stored.width : stored.height,
               stored.channels);
  const ConstImageView from = stored.view();
  const ImageView to = result.view();
  for (int y = 0; y < to.height; ++y) {
    const int v = orientation.flip_y ? to.height - 1 - y : y;
    for (int x = 0; x < to.width; ++x) {
      const int u = orientation.flip_x ? to.width - 1 - x : x;
      std::copy_n(turn ? from.at(v, u) : from.at(u, v), from.channels, to.at(x, y));
    }
  }
  return result;
}

}  // namespace navtalk::media
