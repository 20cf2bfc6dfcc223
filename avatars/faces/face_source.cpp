#include "avatars/faces/face_source.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"

namespace navtalk {

void refuse_small_faces(FaceBoxes& boxes) {
  std::vector<int> widths;
  for (const auto& box : boxes)
    if (box) widths.push_back(box->width());
  std::nth_element(widths.begin(), widths.begin() + std::ssize(widths) / 2, widths.end());
  const int width = widths[widths.size() / 2];
  if (width < k_least_face_pixels)
    throw Error(Code::invalid,
                fmt::format("the face is too small: {} pixels wide, at least {} are needed; use a "
                            "larger or closer picture",
                            width, k_least_face_pixels));
  for (auto& box : boxes)
    if (box && std::min(box->width(), box->height()) < k_least_face_pixels / 2) box.reset();
}

}  // namespace navtalk
