#include "avatars/bundle/transitions.h"

#include <fmt/format.h>

#include <cmath>
#include <span>
#include <utility>

#include "core/base/check.h"
#include "core/base/error.h"
#include "core/checkpoint/checkpoint.h"
#include "core/checkpoint/safetensors_writer.h"

namespace navtalk {
namespace {

constexpr const char* k_entries = "entry";
constexpr const char* k_differences = "difference";

const TensorInfo& tensor_of(const Checkpoint& file, const char* name, DType dtype,
                            const Shape& shape) {
  const TensorInfo* info = file.find(name);
  if (info == nullptr || info->dtype != dtype || info->shape != shape)
    throw Error(Code::invalid,
                fmt::format("{}: tensor \"{}\" must be {} [{}, {}]", file.path().string(), name,
                            dtype == DType::i32 ? "I32" : "F32", shape[0], shape[1]));
  return *info;
}

}  // namespace

Transitions::Transitions(std::size_t clips, std::vector<Transition> rows)
    : clips_(clips), rows_(std::move(rows)) {
  NAVTALK_CHECK(clips_ > 0 && rows_.size() % clips_ == 0);
}

Transitions Transitions::read(const std::filesystem::path& path, const AvatarInfo& info) {
  const Checkpoint file = Checkpoint::open(path);
  const std::size_t clips = info.clips.size();
  const Shape shape{info.frames, static_cast<std::int64_t>(clips)};
  tensor_of(file, k_entries, DType::i32, shape);
  tensor_of(file, k_differences, DType::f32, shape);
  const NdArray<std::int64_t> entries = file.read_i64(k_entries);
  const NdArray<float> differences = file.read_f32(k_differences);
  std::vector<Transition> rows(entries.values.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const AvatarClip& clip = info.clips[i % clips];
    rows[i] = {.entry = entries.values[i], .difference = differences.values[i]};
    if (rows[i].entry < clip.first || rows[i].entry >= clip.first + clip.frames)
      throw Error(Code::invalid,
                  fmt::format("{}: tensor \"{}\": frame {} does not belong to the clip {}",
                              path.string(), k_entries, rows[i].entry, clip.name));
    if (!std::isfinite(rows[i].difference) || rows[i].difference < 0)
      throw Error(Code::invalid, fmt::format("{}: tensor \"{}\" holds {}", path.string(),
                                             k_differences, rows[i].difference));
  }
  return {clips, std::move(rows)};
}

void Transitions::write(const std::filesystem::path& file) const {
  std::vector<std::int32_t> entries;
  std::vector<float> differences;
  for (const Transition& transition : rows_) {
    entries.push_back(static_cast<std::int32_t>(transition.entry));
    differences.push_back(transition.difference);
  }
  const Shape shape{static_cast<std::int64_t>(rows_.size() / clips_),
                    static_cast<std::int64_t>(clips_)};
  SafetensorsWriter writer;
  writer.add(k_entries, DType::i32, shape, std::as_bytes(std::span(entries)));
  writer.add(k_differences, DType::f32, shape, std::as_bytes(std::span(differences)));
  writer.write(file);
}

const Transition& Transitions::into(std::size_t clip, std::int64_t frame) const {
  NAVTALK_CHECK(clip < clips_ && frame >= 0);
  return rows_.at(static_cast<std::size_t>(frame) * clips_ + clip);
}

}  // namespace navtalk
