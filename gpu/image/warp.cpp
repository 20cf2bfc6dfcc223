#include "gpu/image/warp.h"

#include <opencv2/imgproc.hpp>

#include "core/base/check.h"

namespace navtalk {

Image warp_affine(ConstImageView source, const Affine& map, int width, int height) {
  NAVTALK_CHECK(source.width > 0 && source.height > 0);
  const int type = CV_8UC(source.channels);
  // OpenCV only reads it; cv::Mat has no read-only form.
  const cv::Mat from(source.height, source.width, type, const_cast<std::uint8_t*>(source.data),
                     static_cast<std::size_t>(source.stride));
  Image result(width, height, source.channels);
  cv::Mat to(height, width, type, result.pixels.data());
  const cv::Mat matrix(2, 3, CV_64F, const_cast<double*>(map.data()));
  cv::warpAffine(from, to, matrix, to.size(), cv::INTER_LINEAR, cv::BORDER_CONSTANT);
  NAVTALK_CHECK(to.data == result.pixels.data());
  return result;
}

}  // namespace navtalk
