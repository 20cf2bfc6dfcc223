// A face drawn from ellipses that OpenCV's frontal cascades take for one; no photograph needed.
#pragma once

#include <filesystem>
#include <vector>

#include "core/tensor/image.h"

namespace navtalk::tests {

struct DrawnFace {
  double x, y, width;  // centre and width in pixels
};

// A light picture with the faces on it.
Image draw(int width, int height, const std::vector<DrawnFace>& faces);
// Encodes pictures of one size with VideoWriter.
void write_clip(const std::filesystem::path& file, const std::vector<Image>& frames, int fps = 25);
// `count` pictures of one face that moves a little to the right.
std::vector<Image> moving_face(int count, int width = 160, int height = 120);
// Around that face.
inline constexpr Box k_box{50, 30, 110, 100};

}  // namespace navtalk::tests
