#include "gpu/verify/face_groups.h"

#include <algorithm>

#include "core/base/error.h"
#include "gpu/model/face_detector.h"
#include "gpu/model/face_landmarks.h"
#include "gpu/model/face_parser.h"
#include "gpu/model/model_files.h"
#include "gpu/verify/compared.h"
#include "gpu/verify/tolerance.h"

namespace navtalk {
namespace {

constexpr int k_least_picture = 32;

NdArray<std::uint8_t> picture_of(const GoldenFile& golden, std::string_view tensor) {
  NdArray<std::uint8_t> pixels = golden.bytes(tensor, {-1, -1, 3});
  if (pixels.dim(0) < k_least_picture || pixels.dim(1) < k_least_picture)
    golden.fail(std::string(tensor) + " has less than 32 pixels a side");
  return pixels;
}

GroupResult face_net(const GoldenFile& golden, std::string_view tensor,
                     const NdArray<float>& computed, const NdArray<float>& expected) {
  return in(Precision::fp32, check_net(tensor, compared(golden, tensor, computed, expected),
                                       NetOutput::face_network, Precision::fp32));
}

NdArray<float> places(const std::vector<PosePoint>& points) {
  NdArray<float> array(Shape{std::ssize(points), 2});
  for (std::size_t i = 0; i < points.size(); ++i) {
    array.values[2 * i] = static_cast<float>(points[i].x);
    array.values[2 * i + 1] = static_cast<float>(points[i].y);
  }
  return array;
}

NdArray<std::int64_t> corners(const std::optional<Box>& box) {
  if (!box) return NdArray<std::int64_t>(Shape{0, 4});
  return {Shape{1, 4}, {box->x1, box->y1, box->x2, box->y2}};
}

}  // namespace

std::vector<GroupResult> compare_bisenet(const GoldenFile& golden, const Model::Options& options) {
  const NdArray<std::uint8_t> crop = golden.bytes("bisenet.image", {-1, -1, 3});
  const Shape size{k_parsing_size, k_parsing_size};
  const NdArray<float> expected =
      golden.floats("bisenet.logits", {k_parsing_classes, k_parsing_size, k_parsing_size});
  const NdArray<std::uint8_t> labels = golden.bytes("bisenet.labels", size);
  if (crop.values.empty()) golden.fail("bisenet.image is empty");
  const FaceParser parser(require_weights(options.models, Net::bisenet),
                          {.threads = options.threads});
  const NdArray<float> scores = parser.scores(picture(crop.values.data(), crop.shape, 3));
  const NdArray<std::uint8_t> parts(size, best_parts(expected).pixels);
  return {face_net(golden, "bisenet.logits", scores, expected),
          check_parts("bisenet.labels", compared(golden, "bisenet.labels", parts, labels))};
}

std::vector<GroupResult> compare_dwpose(const GoldenFile& golden, const Model::Options& options) {
  const NdArray<std::uint8_t> pixels = picture_of(golden, "dwpose.image");
  const PoseBins expected{golden.floats("dwpose.x", {k_pose_points, k_pose_bins * k_pose_width}),
                          golden.floats("dwpose.y", {k_pose_points, k_pose_bins * k_pose_height})};
  const NdArray<float> points = golden.floats("dwpose.points", {k_pose_points, 2});
  const FaceLandmarks landmarks(require_weights(options.models, Net::dwpose),
                                {.threads = options.threads});
  const ConstImageView image = picture(pixels.values.data(), pixels.shape, 3);
  const PoseBins bins = landmarks.bins(image);
  const NdArray<float> found = places(pose_points(bins, pose_view(image.width, image.height)));
  return {face_net(golden, "dwpose.x", bins.x, expected.x),
          face_net(golden, "dwpose.y", bins.y, expected.y),
          check_places("dwpose.points", compared(golden, "dwpose.points", found, points))};
}

std::vector<GroupResult> compare_s3fd(const GoldenFile& golden, const Model::Options& options) {
  const NdArray<std::uint8_t> pixels = picture_of(golden, "s3fd.image");
  const NdArray<float> scores = golden.floats("s3fd.scores", {-1, 2});
  const NdArray<float> offsets = golden.floats("s3fd.offsets", {-1, 4});
  const NdArray<std::int64_t> box = golden.integers("s3fd.box", {-1, 4});
  const FaceDetector detector(require_weights(options.models, Net::s3fd),
                              {.threads = options.threads});
  const FaceScores computed = detector.scores(picture(pixels.values.data(), pixels.shape, 3));
  const bool equal = corners(best_face(found_faces(computed))).values == box.values;
  return {face_net(golden, "s3fd.scores", computed.scores, scores),
          face_net(golden, "s3fd.offsets", computed.offsets, offsets),
          check_equal("s3fd.box", FloatDifference{.max = equal ? 0.0 : 1.0})};
}

}  // namespace navtalk
