#include "gpu/verify/golden_file.h"

#include <algorithm>
#include <array>
#include <optional>

#include "core/base/error.h"
#include "core/text/number.h"

namespace navtalk {
namespace {

constexpr std::string_view k_format = "navtalk-golden-1";
constexpr double k_highest_fps = 1000;

// Of a decimal string such as "25" or "29.97": truncated to a whole rate, as the reference computes its
// windows. nullopt for anything else.
std::optional<FrameRate> reference_rate(const std::string& decimal) {
  const double fps = parse_number<double>(decimal).value_or(0);
  if (!(fps >= 1 && fps <= k_highest_fps)) return std::nullopt;
  return FrameRate(static_cast<int>(fps));
}

}  // namespace

std::span<const GoldenGroup> golden_groups() {
  static const std::array<GoldenGroup, 11> groups{{
      {"mel", {"audio.samples", "mel.features"}},
      {"whisper", {"mel.features", "whisper.states"}},
      {"windows", {"audio.samples", "whisper.states", "windows.context"}},
      {"encode", {"encode.image", "encode.latents"}},
      {"unet", {"unet.latent", "unet.context", "unet.output"}},
      {"decode", {"decode.latent", "decode.raw", "decode.face"}},
      {"compose",
       {"compose.frame", "compose.face", "compose.box", "compose.mask", "compose.crop_box",
        "compose.output"}},
      {"pipeline", {"audio.samples", "pipeline.latents", "pipeline.face"}},
      {"bisenet", {"bisenet.image", "bisenet.logits", "bisenet.labels"}, true},
      {"dwpose", {"dwpose.image", "dwpose.x", "dwpose.y", "dwpose.points"}, true},
      {"s3fd", {"s3fd.image", "s3fd.scores", "s3fd.offsets", "s3fd.box"}, true},
  }};
  return groups;
}

std::string text(const Shape& shape) {
  std::string out;
  for (const std::int64_t length : shape)
    out += (out.empty() ? "" : ",") + (length < 0 ? "*" : std::to_string(length));
  return "[" + out + "]";
}

GoldenFile GoldenFile::open(const std::filesystem::path& path) {
  GoldenFile file(Checkpoint::open(path));
  const auto& metadata = file.checkpoint_.metadata();
  const auto format = metadata.find("format");
  if (format == metadata.end() || format->second != k_format)
    file.fail("is not a golden file: its metadata must say format \"" + std::string(k_format) +
              "\"" + (format == metadata.end() ? "" : ", not \"" + format->second + "\""));
  if (std::none_of(golden_groups().begin(), golden_groups().end(),
                   [&](const GoldenGroup& group) { return file.missing(group).empty(); }))
    file.fail("holds no whole group that navtalk knows");

  const auto found = metadata.find("fps");
  const auto rate = found == metadata.end() ? std::nullopt : reference_rate(found->second);
  if (rate) file.fps_ = *rate;
  if (!rate && (file.holds("windows") || file.holds("pipeline")))
    file.fail("needs the frame rate as a decimal number of at least 1 in its metadata, \"fps\"");
  return file;
}

std::string_view GoldenFile::missing(const GoldenGroup& group) const {
  for (const std::string_view tensor : group.tensors)
    if (checkpoint_.find(tensor) == nullptr) return tensor;
  return {};
}

bool GoldenFile::holds(std::string_view group) const {
  return std::any_of(golden_groups().begin(), golden_groups().end(), [&](const GoldenGroup& known) {
    return known.name == group && missing(known).empty();
  });
}

NdArray<float> GoldenFile::floats(std::string_view tensor, const Shape& shape) const {
  require_shape(tensor, shape);
  return checkpoint_.read_f32(tensor);
}
NdArray<std::int64_t> GoldenFile::integers(std::string_view tensor, const Shape& shape) const {
  require_shape(tensor, shape);
  return checkpoint_.read_i64(tensor);
}
NdArray<std::uint8_t> GoldenFile::bytes(std::string_view tensor, const Shape& shape) const {
  require_shape(tensor, shape);
  return checkpoint_.read_u8(tensor);
}

void GoldenFile::require_shape(std::string_view tensor, const Shape& shape) const {
  const Shape& stored = checkpoint_.find(tensor)->shape;
  const bool fits =
      std::equal(stored.begin(), stored.end(), shape.begin(), shape.end(),
                 [](std::int64_t have, std::int64_t want) { return want < 0 || have == want; });
  if (!fits)
    fail(std::string(tensor) + " has the shape " + text(stored) + ", expected " + text(shape) +
         "; was the file made from this model?");
}

void GoldenFile::fail(const std::string& cause) const {
  throw Error(Code::invalid, checkpoint_.path().string() + ": " + cause);
}

}  // namespace navtalk
