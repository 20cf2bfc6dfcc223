// The colour of skin around eyes. Inside avatars/faces/ only: its functions take OpenCV's types.
#pragma once

#include <opencv2/core.hpp>

#include "core/tensor/image.h"

namespace navtalk {

// Shares the pixels; OpenCV only reads them.
cv::Mat bgr_of(const ConstImageView& picture);
// CV_32FC3, blurred over `sigma` pixels; from 8-bit BGR.
cv::Mat lab_of(const cv::Mat& bgr, double sigma);

// Below the eye whose middle is at `x`, `y`; `distance` is that of the two eyes. Inside `size`, not empty.
cv::Rect skin_patch(double x, double y, double distance, const cv::Size& size);
// Of each channel, in a picture of CV_32FC3.
cv::Vec3f median_colour(const cv::Mat& colours, const cv::Rect& part);

// Between colours in Lab; shading counts half.
float skin_distance(const cv::Vec3f& colour, const cv::Vec3f& skin);

}  // namespace navtalk
