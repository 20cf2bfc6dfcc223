// Hair that hangs over an eye, from above its lids to below them: a blink leaves it as it is. Strands that end in the eye are not told from
// brows and lashes. Inside avatars/faces/ only: OpenCV's types are its arguments.
#pragma once

#include <opencv2/core.hpp>

#include "avatars/faces/eyes.h"

namespace navtalk {

// CV_32FC1 of the picture's part, 0 to 1: how much of a pixel is such hair. `lab`: lab_of() the picture in whose pixels the eye
// is; `skin`: the skin's colour below the eye; `distance`: of both eyes.
cv::Mat hair_over_eye(const cv::Mat& lab, const cv::Rect& part, const cv::Vec3f& skin,
                      const Eye& eye, double distance);

}  // namespace navtalk
