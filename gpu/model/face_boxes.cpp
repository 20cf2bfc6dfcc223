#include "gpu/model/face_boxes.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "core/base/check.h"

namespace navtalk {
namespace {

// The original also keeps candidates from 0.05 on until it has removed overlapping ones; those remove no better one.
constexpr float k_face = 0.5F, k_same = 0.3F;
constexpr float k_place_unit = 0.1F, k_size_unit = 0.2F;  // of the offsets
constexpr int k_finest_cell = 4;

float face_probability(const float* scores) {
  const float most = std::max(scores[0], scores[1]);
  const float background = std::exp(scores[0] - most), face = std::exp(scores[1] - most);
  return face / (background + face);
}

// `cell`: in pixels. The cell's own box is four cells wide, around its middle.
FoundFace decoded(const float* offsets, std::int64_t row, std::int64_t column, int cell,
                  float score) {
  const auto side = static_cast<float>(4 * cell), pitch = static_cast<float>(cell);
  const float middle_x = pitch / 2 + pitch * static_cast<float>(column);
  const float middle_y = pitch / 2 + pitch * static_cast<float>(row);
  const float x = middle_x + offsets[0] * k_place_unit * side;
  const float y = middle_y + offsets[1] * k_place_unit * side;
  const float width = side * std::exp(offsets[2] * k_size_unit);
  const float height = side * std::exp(offsets[3] * k_size_unit);
  const float x1 = x - width / 2, y1 = y - height / 2;
  return {x1, y1, x1 + width, y1 + height, score};
}

// Lengths count both ends, as pixels do.
float area(const FoundFace& face) { return (face.x2 - face.x1 + 1) * (face.y2 - face.y1 + 1); }

bool same_face(const FoundFace& a, const FoundFace& b) {
  const float width = std::max(0.0F, std::min(a.x2, b.x2) - std::max(a.x1, b.x1) + 1);
  const float height = std::max(0.0F, std::min(a.y2, b.y2) - std::max(a.y1, b.y1) + 1);
  const float both = width * height;
  return both / (area(a) + area(b) - both) > k_same;
}

std::vector<FoundFace> candidates(const FaceScores& scores) {
  std::vector<FoundFace> found;
  std::int64_t i = 0;
  int cell = k_finest_cell;
  for (const FaceScores::Scale& scale : scores.scales) {
    for (std::int64_t row = 0; row < scale.rows; ++row)
      for (std::int64_t column = 0; column < scale.columns; ++column, ++i) {
        const float probability = face_probability(scores.scores.row(i));
        if (probability > k_face)
          found.push_back(decoded(scores.offsets.row(i), row, column, cell, probability));
      }
    cell *= 2;
  }
  NAVTALK_CHECK(i == scores.scores.dim(0) && i == scores.offsets.dim(0));
  return found;
}

Box whole_box(const FoundFace& face) {
  const auto whole = [](float value) {
    constexpr float k_far = 1 << 20;  // beyond every picture
    return value > 0 ? static_cast<int>(std::min(value, k_far)) : 0;
  };
  return {whole(face.x1), whole(face.y1), whole(face.x2), whole(face.y2)};
}

}  // namespace

std::vector<FoundFace> found_faces(const FaceScores& scores) {
  std::vector<FoundFace> left = candidates(scores);
  // The later one of equals first.
  std::ranges::reverse(left);
  std::ranges::stable_sort(left, std::ranges::greater(), &FoundFace::score);
  std::vector<FoundFace> faces;
  for (const FoundFace& candidate : left) {
    if (std::ranges::none_of(faces, [&](const FoundFace& f) { return same_face(f, candidate); }))
      faces.push_back(candidate);
  }
  return faces;
}

std::optional<Box> best_face(const std::vector<FoundFace>& faces) {
  if (faces.empty()) return std::nullopt;
  return whole_box(faces.front());
}

std::vector<Box> whole_boxes(const std::vector<FoundFace>& faces) {
  std::vector<Box> boxes;
  std::ranges::transform(faces, std::back_inserter(boxes), whole_box);
  return boxes;
}

}  // namespace navtalk
