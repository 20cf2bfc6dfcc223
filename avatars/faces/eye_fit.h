// How well an eye of some place and shape fits a picture: inside its lids it is unlike the skin, outside it is like it. Inside
// avatars/faces/ only: OpenCV's types are its arguments.
#pragma once

#include <array>
#include <opencv2/core.hpp>

#include "avatars/faces/eyes.h"

namespace navtalk {

// How unlike the skin below it the surroundings of an eye are, 0 to 1, as sums down each column. The picture is resampled so that
// the eyes are k_eye_distance pixels apart, the eye in the middle.
inline constexpr double k_eye_distance = 100;
inline constexpr int k_eye_window = 140, k_eye_middle = k_eye_window / 2;

class EyeSurroundings {
 public:
  // `x`, `y`: about the eye's middle; `distance`: of both eyes.
  EyeSurroundings(const cv::Mat& picture, double x, double y, double distance);
  double sum(int x, int first, int end) const { return double{sums_[x][end]} - sums_[x][first]; }

 private:
  float sums_[k_eye_window][k_eye_window + 1] = {};
};

// In the window's pixels.
struct FittedEyes {
  double score = 0;
  double worse_fit = 0;  // of the two
  std::array<Eye, 2> both{};
};
// Of people's eyes that were looked at (photographed, drawn and rendered) the worse has 0.39 to 0.45; a brow that was taken for an eye
// 0.28.
inline constexpr double k_least_fit = 0.33;

// Anywhere in both windows, of any size that eyes have. Both have one shape.
FittedEyes fit_eyes(const std::array<EyeSurroundings, 2>& pictures);
// Near these, which are in the windows' pixels.
FittedEyes fit_eyes_near(const std::array<EyeSurroundings, 2>& pictures,
                         const std::array<Eye, 2>& eyes);

// How far lashes and shadows reach from a lid: to the first rows of skin, in the middle of most columns. `side`: -1 above, 1 below;
// `most`: in parts of the eyes' distance. `lab`: lab_of() the picture in whose pixels the eye is.
double reach_of_lashes(const cv::Mat& lab, const cv::Vec3f& skin, const Eye& eye, double distance,
                       int side, double most);

}  // namespace navtalk
