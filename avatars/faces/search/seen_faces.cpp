#include "avatars/faces/search/seen_faces.h"

#include <cstring>

namespace navtalk {
namespace {

constexpr std::size_t k_box_numbers = 4;
constexpr std::size_t k_numbers = k_box_numbers + sizeof(FaceLook) / sizeof(std::int32_t);

}  // namespace

SeenFaces look_at(const ConstImageView& picture, const Detections& faces) {
  SeenFaces seen;
  for (const Box& face : faces) seen.push_back({.box = face, .look = look_of(picture, face)});
  return seen;
}

std::vector<std::int32_t> numbers_of(const SeenFaces& faces) {
  std::vector<std::int32_t> numbers(faces.size() * k_numbers);
  std::int32_t* next = numbers.data();
  for (const SeenFace& face : faces) {
    const std::int32_t box[k_box_numbers] = {face.box.x1, face.box.y1, face.box.x2, face.box.y2};
    std::memcpy(next, box, sizeof box);
    std::memcpy(next + k_box_numbers, face.look.data(), sizeof(FaceLook));
    next += k_numbers;
  }
  return numbers;
}

std::optional<SeenFaces> read_seen_faces(std::span<const std::int32_t> numbers) {
  if (numbers.size() % k_numbers != 0) return std::nullopt;
  SeenFaces faces(numbers.size() / k_numbers);
  for (SeenFace& face : faces) {
    face.box = {numbers[0], numbers[1], numbers[2], numbers[3]};
    std::memcpy(face.look.data(), numbers.data() + k_box_numbers, sizeof(FaceLook));
    numbers = numbers.subspan(k_numbers);
  }
  return faces;
}

std::vector<std::int32_t> numbers_of(const FacePoints& points) {
  std::vector<std::int32_t> numbers;
  for (const FacePoint& point : points) numbers.insert(numbers.end(), {point.x, point.y});
  return numbers;
}

std::optional<FacePoints> read_face_points(std::span<const std::int32_t> numbers) {
  if (!numbers.empty() && numbers.size() != 2 * k_face_point_count) return std::nullopt;
  FacePoints points(numbers.size() / 2);
  for (std::size_t i = 0; i < points.size(); ++i) points[i] = {numbers[2 * i], numbers[2 * i + 1]};
  return points;
}

}  // namespace navtalk
