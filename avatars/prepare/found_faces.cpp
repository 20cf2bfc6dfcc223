#include "avatars/prepare/found_faces.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "avatars/bundle/json_file.h"
#include "core/base/error.h"

namespace navtalk {
namespace {

constexpr std::size_t k_max_found_bytes = std::size_t{128} << 20;
constexpr std::int64_t k_far = 1 << 20;  // beyond every picture

std::string list_of(const FacePoints& points) {
  std::vector<int> numbers;
  for (const FacePoint& point : points) numbers.insert(numbers.end(), {point.x, point.y});
  return fmt::format("[{}]", fmt::join(numbers, ","));
}

FacePoints read_points(const JsonValue& numbers) {
  FacePoints points(numbers.list_size() / 2);
  const auto number = [&](std::size_t i) {
    return static_cast<int>(numbers.at(i).integer(-k_far, k_far));
  };
  for (std::size_t i = 0; i < points.size(); ++i) points[i] = {number(2 * i), number(2 * i + 1)};
  return points;
}

FoundFaces read(const JsonValue& root, std::size_t frames) {
  const JsonValue boxes = root.at("boxes"), landmarks = root.at("landmarks");
  if (boxes.list_size() != frames) boxes.refuse("are of another clip");
  FoundFaces found{.boxes = FaceBoxes(frames)};
  for (std::size_t i = 0; i < frames; ++i)
    if (!boxes.at(i).is_null()) found.boxes[i] = boxes.at(i).box();
  found.landmarks.resize(landmarks.list_size());
  if (!found.landmarks.empty() && found.landmarks.size() != frames)
    landmarks.refuse("are of another clip");
  for (std::size_t i = 0; i < found.landmarks.size(); ++i)
    found.landmarks[i] = read_points(landmarks.at(i));
  return found;
}

}  // namespace

void write_found_faces(const std::filesystem::path& file, const FoundFaces& found) {
  std::string text = "{\"boxes\": [";
  for (std::size_t i = 0; i < found.boxes.size(); ++i) {
    const auto& box = found.boxes[i];
    text += i == 0 ? "\n" : ",\n";
    text += box ? fmt::format("[{},{},{},{}]", box->x1, box->y1, box->x2, box->y2) : "null";
  }
  text += "],\n\"landmarks\": [";
  for (std::size_t i = 0; i < found.landmarks.size(); ++i)
    text += (i == 0 ? "\n" : ",\n") + list_of(found.landmarks[i]);
  write_text_whole(file, text + "]}\n");
}

std::optional<FoundFaces> read_found_faces(const std::filesystem::path& file, std::int64_t frames) {
  try {
    const nlohmann::json json = read_json_object(file, k_max_found_bytes);
    return read(JsonValue(json, "found.json: "), static_cast<std::size_t>(frames));
  } catch (const Error&) {
    return std::nullopt;  // as good as none
  }
}

}  // namespace navtalk
