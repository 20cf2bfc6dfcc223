#include "avatars/faces/given_faces.h"

#include <fmt/format.h>

#include <algorithm>

#include "avatars/bundle/avatar_info.h"
#include "avatars/bundle/json_file.h"
#include "core/base/error.h"

namespace navtalk {
namespace {

constexpr std::size_t k_max_bytes = std::size_t{16} << 20;

std::string text(const std::optional<Box>& box) {
  return box ? fmt::format("{},{},{},{}", box->x1, box->y1, box->x2, box->y2) : "none";
}

void refuse_misplaced(const Box& box, const Clip& clip) {
  if (box.x1 < 0 || box.y1 < 0 || box.x2 > clip.width() || box.y2 > clip.height())
    throw Error(Code::invalid,
                fmt::format("the face box {} (x1,y1,x2,y2) leaves the frame of {}x{}", text(box),
                            clip.width(), clip.height()));
  if (box.width() < k_least_face_pixels || box.height() < k_least_face_pixels)
    throw Error(Code::invalid,
                fmt::format("the face box {} (x1,y1,x2,y2) is smaller than {} pixels", text(box),
                            k_least_face_pixels));
}

}  // namespace

std::string GivenFaces::identity() const {
  std::string all = "box";
  for (const auto& box : boxes_) all += " " + text(box);
  return all;
}

FaceBoxes GivenFaces::find(Clip& clip, const FrameRate&, const std::filesystem::path&,
                           const Progress&, const std::stop_token&) {
  const auto frames = static_cast<std::size_t>(clip.frame_count());
  FaceBoxes boxes = boxes_;
  if (boxes.size() == 1) boxes.resize(frames, boxes[0]);
  if (boxes.size() != frames)
    throw Error(Code::invalid, fmt::format("{} face boxes are given for {} frames (at the "
                                           "avatar's frame rate)",
                                           boxes.size(), frames));
  for (const auto& box : boxes)
    if (box) refuse_misplaced(*box, clip);
  if (std::count(boxes.begin(), boxes.end(), std::nullopt) == std::ssize(boxes))
    throw Error(Code::invalid, "the given face boxes hold no face at all");
  return boxes;
}

FaceBoxes read_face_boxes(const std::filesystem::path& file) {
  const nlohmann::json json = read_json_object(file, k_max_bytes);
  const JsonValue list = JsonValue(json, file.string() + ": ").at("boxes");
  if (list.list_size() == 0 || list.list_size() > static_cast<std::size_t>(k_max_avatar_frames))
    list.refuse("must hold one box a frame");
  FaceBoxes boxes(list.list_size());
  for (std::size_t i = 0; i < boxes.size(); ++i)
    if (!list.at(i).is_null()) boxes[i] = list.at(i).box();
  return boxes;
}

}  // namespace navtalk
