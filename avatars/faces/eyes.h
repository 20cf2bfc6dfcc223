// The eyes of a face in a picture, as far as a blink needs them: where each eye is, how wide and how open. Found by landmarks, or by
// OpenCV's eye cascades from Debian's opencv-data, and measured by where the colours are not those of the skin below.
#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <vector>

#include "avatars/bundle/faces.h"
#include "core/tensor/image.h"

namespace navtalk {

// Lengths in pixels of the picture. The lids are arcs over `half_width` to both sides of the middle; lashes and
// make-up lie on the arcs that are further from the middle by `lashes_above` and `lashes_below`.
struct Eye {
  double x = 0, y = 0;
  double half_width = 0, above = 0, below = 0;
  double lashes_above = 0, lashes_below = 0;
  double tilt = 0;  // how far the line between the corners falls for each pixel to the right
};

struct Eyes {
  std::array<Eye, 2> both;  // the left one in the picture first
  double distance = 0;      // of their middles
};

// How far the arc of a lid is from the line between the corners at `across`, -1 to 1 from corner to corner; in units of its
// distance in the middle.
double lid_arc(double across);

// nullopt when there are no two eyes side by side in `face`. `landmarks`: the 68 points of the face, or none. They tell lids from
// brows and hair that touch them, and are taken where they lie on eyes by the picture's colours; those of drawn faces and behind
// glasses often do not. `picture`: [H,W,3] BGR. `directories`: where opencv-data may lie. Error{not_found} without cascade files.
std::optional<Eyes> find_eyes(const ConstImageView& picture, const Box& face,
                              const std::vector<std::filesystem::path>& directories,
                              const FacePoints& landmarks = {});

}  // namespace navtalk
