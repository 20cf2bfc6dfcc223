#include "avatars/exchange/musetalk_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

#include "avatars/bundle/avatar_info.h"
#include "avatars/bundle/json_file.h"
#include "avatars/prepare/source_clip.h"
#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "core/checkpoint/mapped_file.h"
#include "core/checkpoint/pickle/pickle.h"
#include "core/media/image_file.h"
#include "gpu/nets/net_config.h"

namespace navtalk {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t k_max_json_bytes = 64 * 1024;
constexpr std::uint64_t k_max_picture_bytes = std::uint64_t{256} << 20;

[[noreturn]] void refuse(const fs::path& file, const std::string& why) {
  throw Error(Code::invalid, fmt::format("{}: {}", file.string(), why));
}

std::string optional_text(const JsonValue& object, const char* key) {
  return object.has(key) ? object.at(key).text(256) : std::string();
}

MuseTalkInfo read_info(const fs::path& file) {
  MuseTalkInfo info;
  if (!fs::exists(file)) return info;
  const nlohmann::json json = read_json_object(file, k_max_json_bytes);
  const JsonValue root(json, file.string() + ": ");
  info.avatar_id = optional_text(root, "avatar_id");
  info.version = optional_text(root, "version");
  if (!root.has("navtalk")) return info;
  const JsonValue ours = root.at("navtalk");
  if (ours.has("fps")) info.fps = ours.at("fps").frame_rate(k_highest_avatar_fps);
  if (ours.has("loop")) info.loop = ours.at("loop").boolean();
  if (ours.has("voice")) info.voice = ours.at("voice").text(k_max_voice);
  if (ours.has("sharpen")) info.sharpen = ours.at("sharpen").number(0, k_most_sharpening);
  if (ours.has("match_colour")) info.match_colour = ours.at("match_colour").boolean();
  info.face_source = optional_text(ours, "face_source");
  info.mask_source = optional_text(ours, "mask_source");
  return info;
}

// Placeholders of frames without a face are whole numbers as floats.
std::optional<int> coordinate(const PickleValue& value) {
  std::optional<std::int64_t> number = value.integer();
  if (const std::optional<double> real = value.real()) {
    constexpr double k_exact = 1e9;
    if (*real >= -k_exact && *real <= k_exact &&
        *real == static_cast<double>(static_cast<std::int64_t>(*real)))
      number = static_cast<std::int64_t>(*real);
  }
  constexpr std::int64_t k_far = 1 << 24;
  if (!number || *number < -k_far || *number > k_far) return std::nullopt;
  return static_cast<int>(*number);
}

std::optional<Box> read_box(const PickleValue& entry) {
  using enum PickleValue::Kind;
  std::array<int, 4> numbers{};
  if (entry.kind() == array) {
    const std::optional<NdArray<std::int64_t>> values = entry.integers();
    if (!values || values->values.size() != 4) return std::nullopt;
    for (std::size_t i = 0; i < 4; ++i) numbers[i] = static_cast<int>(values->values[i]);
    return Box{numbers[0], numbers[1], numbers[2], numbers[3]};
  }
  if ((entry.kind() != list && entry.kind() != tuple) || entry.size() != 4) return std::nullopt;
  for (std::size_t i = 0; i < 4; ++i) {
    const std::optional<int> number = coordinate(entry.item(i));
    if (!number) return std::nullopt;
    numbers[i] = *number;
  }
  return Box{numbers[0], numbers[1], numbers[2], numbers[3]};
}

std::vector<Box> read_boxes(const fs::path& file) {
  const Pickle pickle = Pickle::open(file);
  const PickleValue root = pickle.root();
  using enum PickleValue::Kind;
  if (root.kind() != list && root.kind() != tuple) refuse(file, "does not hold a list of boxes");
  if (root.size() > 2 * k_max_avatar_frames)
    refuse(file, fmt::format("has {} entries, an avatar at most {}", root.size(),
                             2 * k_max_avatar_frames));
  std::vector<Box> boxes;
  boxes.reserve(root.size());
  for (std::size_t i = 0; i < root.size(); ++i) {
    const std::optional<Box> box = read_box(root.item(i));
    if (!box) refuse(file, fmt::format("entry {} is not [x1, y1, x2, y2] in whole pixels", i));
    if (*box == Box{})
      refuse(file, fmt::format("entry {} says that the frame has no face; MuseTalk cannot finish "
                               "such an avatar, and its latents do not belong to its frames: "
                               "prepare one from the video",
                               i));
    if (box->empty()) refuse(file, fmt::format("entry {} is an empty box", i));
    boxes.push_back(*box);
  }
  return boxes;
}

Checkpoint read_latents(const fs::path& file) {
  Checkpoint latents = Checkpoint::open(file);
  for (std::size_t i = 0; i < latents.tensors().size(); ++i) {
    const TensorInfo& tensor = latents.tensors()[i];
    const bool real = tensor.dtype == DType::f16 || tensor.dtype == DType::bf16 ||
                      tensor.dtype == DType::f32 || tensor.dtype == DType::f64;
    if (!real || tensor.shape != Shape{1, 8, k_latent_size, k_latent_size})
      refuse(file, fmt::format("entry {} is not a tensor of real numbers [1, 8, {}, {}]", i,
                               k_latent_size, k_latent_size));
    if (tensor.name != std::to_string(i)) refuse(file, "does not hold a list of latents");
  }
  return latents;
}

void check_layout(const fs::path& folder) {
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored))
    throw Error(Code::not_found, fmt::format("{}: no such folder", folder.string()));
  if (fs::exists(folder / "face_imgs", ignored) &&
      !fs::exists(folder / k_musetalk_latents, ignored))
    refuse(folder,
           fmt::format("an avatar for Wav2Lip (it has face_imgs and no {}); make one from its "
                       "frames: navtalk avatar prepare --images {}/{}",
                       k_musetalk_latents, folder.string(), k_musetalk_frames));
  for (const char* name : {k_musetalk_frames, k_musetalk_masks, k_musetalk_boxes,
                           k_musetalk_mask_boxes, k_musetalk_latents})
    if (!fs::exists(folder / name, ignored))
      refuse(folder, fmt::format("not an avatar of MuseTalk: it has no {}", name));
}

void check_sizes(const MuseTalkFolder& avatar) {
  const auto check = [&](const char* name, std::size_t size) {
    if (size != avatar.size())
      refuse(avatar.path / name, fmt::format("has {} entries, {} has {} frames", size,
                                             k_musetalk_frames, avatar.size()));
  };
  check(k_musetalk_masks, avatar.masks.size());
  check(k_musetalk_boxes, avatar.boxes.size());
  check(k_musetalk_mask_boxes, avatar.mask_boxes.size());
  check(k_musetalk_latents, avatar.latents.tensors().size());
  for (std::size_t i = 0; i < avatar.size(); ++i) {
    const Box& box = avatar.boxes[i];
    if (!(intersection(box, avatar.mask_boxes[i]) == box))
      refuse(avatar.path / k_musetalk_mask_boxes,
             fmt::format("entry {} does not surround the face box of {}", i, k_musetalk_boxes));
  }
}

bool same_bytes(const fs::path& left, const fs::path& right) {
  std::error_code fault;
  if (fs::file_size(left, fault) != fs::file_size(right, fault) || fault) return false;
  const MappedFile a = MappedFile::open(left, k_max_picture_bytes);
  const MappedFile b = MappedFile::open(right, k_max_picture_bytes);
  return std::ranges::equal(a.bytes(), b.bytes());
}

bool same_picture(const fs::path& left, const fs::path& right, const MediaLimits& limits) {
  return same_bytes(left, right) || read_image(left, limits) == read_image(right, limits);
}

bool same_latent(const Checkpoint& latents, std::size_t left, std::size_t right) {
  const auto bytes = [&](std::size_t i) { return latents.mapped(std::to_string(i)); };
  const auto a = bytes(left), b = bytes(right);
  if (a && b && a->data() == b->data() && a->size() == b->size()) return true;
  return latents.read_f32(std::to_string(left)).values ==
         latents.read_f32(std::to_string(right)).values;
}

}  // namespace

MuseTalkFolder open_musetalk(const fs::path& folder) {
  check_layout(folder);
  MuseTalkFolder avatar{.path = folder,
                        .info = read_info(folder / k_musetalk_info),
                        .frames = list_pictures(folder / k_musetalk_frames),
                        .masks = list_pictures(folder / k_musetalk_masks),
                        .boxes = read_boxes(folder / k_musetalk_boxes),
                        .mask_boxes = read_boxes(folder / k_musetalk_mask_boxes),
                        .latents = read_latents(folder / k_musetalk_latents)};
  check_sizes(avatar);
  return avatar;
}

bool is_mirrored(const MuseTalkFolder& folder, const MediaLimits& limits, const Progress& progress,
                 const std::stop_token& stop) {
  const std::size_t n = folder.size();
  if (n % 2 != 0) return false;
  for (std::size_t i = 0; i < n / 2; ++i)
    if (!(folder.boxes[i] == folder.boxes[n - 1 - i]) ||
        !(folder.mask_boxes[i] == folder.mask_boxes[n - 1 - i]))
      return false;
  for (std::size_t i = 0; i < n / 2; ++i) {
    throw_if_stopped(stop);
    const std::size_t mirror = n - 1 - i;
    if (!same_latent(folder.latents, i, mirror) ||
        !same_picture(folder.frames[i], folder.frames[mirror], limits) ||
        !same_picture(folder.masks[i], folder.masks[mirror], limits))
      return false;
    if (progress) progress("comparing", i + 1, n / 2);
  }
  return true;
}

}  // namespace navtalk
