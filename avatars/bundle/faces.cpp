#include "avatars/bundle/faces.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "avatars/bundle/json_file.h"

namespace navtalk {
namespace {

constexpr std::size_t k_max_faces_bytes = std::size_t{128}
                                          << 20;  // k_max_avatar_frames with 68 landmarks each

bool inside(const Box& inner, const Box& outer) {
  return inner.x1 >= outer.x1 && inner.y1 >= outer.y1 && inner.x2 <= outer.x2 &&
         inner.y2 <= outer.y2;
}

FacePoints read_landmarks(const JsonValue& numbers) {
  if (numbers.list_size() != 2 * k_face_point_count)
    numbers.refuse(fmt::format("must be {} numbers", 2 * k_face_point_count));
  FacePoints points(k_face_point_count);
  const auto number = [&](std::size_t i) {
    return static_cast<int>(numbers.at(i).integer(-k_max_frame_size, 2 * k_max_frame_size));
  };
  for (std::size_t i = 0; i < points.size(); ++i) points[i] = {number(2 * i), number(2 * i + 1)};
  return points;
}

AvatarFace read_face(const JsonValue& frame, const AvatarInfo& info) {
  AvatarFace face;
  face.placement.box = frame.at("box").box();
  const Box whole{0, 0, info.width, info.height};
  const bool may_leave = info.format_version > 1;
  if (may_leave && intersection(face.placement.box, whole).empty())
    frame.at("box").refuse(fmt::format("lies outside of the frame of {}x{}", whole.x2, whole.y2));
  if (!may_leave && !inside(face.placement.box, whole))
    frame.at("box").refuse(fmt::format("leaves the frame of {}x{}", info.width, info.height));
  face.placement.crop_box = frame.at("crop_box").box();
  const Box& crop = face.placement.crop_box;
  // A crop box is about one and a half times the face box; three times leaves room for other ways.
  if (!inside(face.placement.box, crop) || crop.width() > 3 * k_max_frame_size ||
      crop.height() > 3 * k_max_frame_size)
    frame.at("crop_box").refuse("must surround the box");
  face.mask_region = frame.at("mask_region").box();
  const Box& region = face.mask_region;
  const Box in_frame{region.x1 + crop.x1, region.y1 + crop.y1, region.x2 + crop.x1,
                     region.y2 + crop.y1};
  if (!inside(in_frame, face.placement.box)) frame.at("mask_region").refuse("leaves the face box");
  face.mask = static_cast<int>(frame.at("mask").integer(0, k_max_avatar_frames - 1));
  if (frame.has("landmarks")) face.landmarks = read_landmarks(frame.at("landmarks"));
  return face;
}

// Points far outside of any frame are kept at its edge.
std::string landmarks_text(const FacePoints& points) {
  if (points.empty()) return "";
  std::vector<int> numbers;
  for (const FacePoint& point : points)
    for (const int number : {point.x, point.y})
      numbers.push_back(std::clamp(number, -k_max_frame_size, 2 * k_max_frame_size));
  return fmt::format(R"(,"landmarks":[{}])", fmt::join(numbers, ","));
}

std::string list(const Box& box) {
  return fmt::format("[{},{},{},{}]", box.x1, box.y1, box.x2, box.y2);
}

}  // namespace

std::int64_t count_faces(const Faces& faces) {
  return std::count_if(faces.begin(), faces.end(),
                       [](const auto& face) { return face.has_value(); });
}

Faces read_faces(const std::filesystem::path& file, const AvatarInfo& info) {
  const nlohmann::json json = read_json_object(file, k_max_faces_bytes);
  const JsonValue frames = JsonValue(json, file.string() + ": ").at("frames");
  if (static_cast<std::int64_t>(frames.list_size()) != info.frames)
    frames.refuse(
        fmt::format("has {} entries, avatar.json says {} frames", frames.list_size(), info.frames));
  Faces faces(frames.list_size());
  for (std::size_t i = 0; i < faces.size(); ++i) {
    const JsonValue frame = frames.at(i);
    if (!frame.is_null()) faces[i] = read_face(frame, info);
  }
  return faces;
}

void write_faces(const std::filesystem::path& file, const Faces& faces) {
  std::string text = "{\"frames\": [\n";
  for (std::size_t i = 0; i < faces.size(); ++i) {
    if (faces[i]) {
      const Placement& place = faces[i]->placement;
      text += fmt::format(R"({{"box":{},"crop_box":{},"mask_region":{},"mask":{}{}}})",
                          list(place.box), list(place.crop_box), list(faces[i]->mask_region),
                          faces[i]->mask, landmarks_text(faces[i]->landmarks));
    } else {
      text += "null";
    }
    text += i + 1 < faces.size() ? ",\n" : "\n";
  }
  write_text_whole(file, text + "]}\n");
}

}  // namespace navtalk
