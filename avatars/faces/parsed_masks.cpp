#include "avatars/faces/parsed_masks.h"

#include <fmt/format.h>

#include <algorithm>
#include <opencv2/imgproc.hpp>
#include <utility>

#include "core/base/check.h"
#include "core/checkpoint/checkpoint.h"
#include "gpu/image/pillow_resize.h"

namespace navtalk {
namespace {

constexpr int k_narrowings = 2;

// Grows what it dilates by 16 rows up, 21 columns wide, and by 6 rows down to a tip.
cv::Mat chin_kernel() {
  constexpr int k_side = 33, k_column = k_side / 2, k_tip = 10, k_cone_end = 21;
  cv::Mat kernel = cv::Mat::zeros(k_side, k_side, CV_8U);
  for (int row = k_tip; row < k_side; ++row) {
    const int half = std::min(row, k_cone_end - 1) - k_tip;
    kernel.row(row).colRange(k_column - half, k_column + half + 1).setTo(1);
  }
  return kernel;
}

// What OpenCV's ellipse of 35x3 comes to.
cv::Mat cheek_kernel() {
  cv::Mat kernel = cv::Mat::zeros(3, 35, CV_8U);
  kernel.row(1).setTo(1);
  kernel.col(17).setTo(1);
  return kernel;
}

// 255 where the skin is narrowed.
cv::Mat cheeks(const ParsingOptions& options) {
  constexpr int k_middle = k_parsing_size / 2;
  cv::Mat mask = cv::Mat::zeros(k_parsing_size, k_parsing_size, CV_8U);
  mask.colRange(0, k_middle - options.left_cheek_width + 1).setTo(255);
  mask.colRange(std::min(k_middle + options.right_cheek_width, k_parsing_size), k_parsing_size)
      .setTo(255);
  return mask;
}

cv::Mat where(const cv::Mat& parts, FacePart part) { return parts == static_cast<int>(part); }

cv::Mat jaw(const cv::Mat& parts, const ParsingOptions& options) {
  cv::Mat grown, narrowed;
  cv::dilate(where(parts, FacePart::skin), grown, chin_kernel());
  cv::erode(grown, narrowed, cheek_kernel(), cv::Point(-1, -1), k_narrowings);
  narrowed.copyTo(grown, cheeks(options));
  return grown & ~where(parts, FacePart::nose);
}

std::string_view mode_name(ParsingMode mode) {
  switch (mode) {
    case ParsingMode::jaw:
      return "jaw";
    case ParsingMode::raw:
      return "raw";
    case ParsingMode::neck:
      return "neck";
  }
  return "?";
}

// The part of the frame under `box`; black outside of the frame.
Image crop_with_border(ConstImageView frame, const Box& box) {
  Image crop(box.width(), box.height());
  const Box inside = intersection(box, {0, 0, frame.width, frame.height});
  for (int y = inside.y1; y < inside.y2; ++y)
    std::copy_n(frame.at(inside.x1, y), 3 * inside.width(),
                crop.view().at(inside.x1 - box.x1, y - box.y1));
  return crop;
}

}  // namespace

Image parsing_mask(ConstImageView parts, const ParsingOptions& options) {
  NAVTALK_CHECK(parts.width == k_parsing_size && parts.height == k_parsing_size);
  NAVTALK_CHECK(parts.channels == 1);
  const cv::Mat labels(parts.height, parts.width, CV_8U, const_cast<std::uint8_t*>(parts.data),
                       static_cast<std::size_t>(parts.stride));
  Image mask(parts.width, parts.height, 1);
  cv::Mat out(mask.height, mask.width, CV_8U, mask.pixels.data());
  const cv::Mat skin =
      options.mode == ParsingMode::jaw ? jaw(labels, options) : where(labels, FacePart::skin);
  out = skin | where(labels, FacePart::mouth);
  out |= where(labels, FacePart::upper_lip) | where(labels, FacePart::lower_lip);
  if (options.mode == ParsingMode::neck) out |= where(labels, FacePart::neck);
  NAVTALK_CHECK(out.data == mask.pixels.data());
  return mask;
}

ParsedMasks::ParsedMasks(const std::filesystem::path& weights, const ParsingOptions& options,
                         const FaceNetOptions& networks)
    : options_(options),
      parser_(weights, networks),
      batch_(static_cast<std::size_t>(pictures_at_once(networks))),
      identity_(fmt::format("{} {} {} {} {}", name(), options.left_cheek_width,
                            options.right_cheek_width, sha256_file(weights),
                            numbers_of(networks))) {}

std::string ParsedMasks::name() const {
  return fmt::format("musetalk-{}", mode_name(options_.mode));
}

FaceMask ParsedMasks::mask(ConstImageView frame, const Box& box) {
  const FaceInFrame face{frame, box};
  return std::move(masks(std::span(&face, 1)).front());
}

std::vector<FaceMask> ParsedMasks::masks(std::span<const FaceInFrame> faces) {
  std::vector<Image> crops;
  std::vector<ConstImageView> views;
  for (const FaceInFrame& face : faces)
    crops.push_back(crop_with_border(face.frame, crop_box_of(face.box)));
  for (const Image& crop : crops) views.push_back(crop.view());
  const std::vector<Image> parts = parser_.parts(views);
  std::vector<FaceMask> masks;
  for (std::size_t i = 0; i < faces.size(); ++i) {
    const Image small = parsing_mask(parts[i].view(), options_);
    Image sharp(crops[i].width, crops[i].height, 1);
    pillow_resize(small.view(), sharp.view(), PillowFilter::bicubic);
    masks.push_back(lower_part(faces[i].box, std::move(sharp)));
  }
  return masks;
}

}  // namespace navtalk
