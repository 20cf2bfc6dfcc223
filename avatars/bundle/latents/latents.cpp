#include "avatars/bundle/latents/latents.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/check.h"
#include "core/base/error.h"
#include "core/checkpoint/safetensors_writer.h"

namespace navtalk {
namespace {

constexpr const char* k_tensor = "latents";
constexpr const char* k_checksum_key = "model_checksum";

Shape shape_of(std::int64_t frames) { return {frames, 8, k_latent_size, k_latent_size}; }

// Copies each face's latent to its frame's place.
std::vector<float> spread(const Faces& faces, const std::vector<float>& values) {
  std::vector<float> all(faces.size() * k_latent_values, 0.0F);
  auto from = values.begin();
  for (std::size_t i = 0; i < faces.size(); ++i) {
    if (!faces[i]) continue;
    NAVTALK_CHECK(values.end() - from >= static_cast<std::ptrdiff_t>(k_latent_values));
    std::copy_n(from, k_latent_values,
                all.begin() + static_cast<std::ptrdiff_t>(i * k_latent_values));
    from += k_latent_values;
  }
  return all;
}

std::span<const float> mapped_floats(const Checkpoint& file) {
  const auto bytes = file.mapped(k_tensor);
  if (!bytes)
    throw Error(Code::invalid, fmt::format("{}: tensor \"{}\" is not stored contiguously",
                                           file.path().string(), k_tensor));
  return {reinterpret_cast<const float*>(bytes->data()), bytes->size() / sizeof(float)};
}

}  // namespace

Latents::Latents(const Faces& faces, const std::vector<float>& values)
    : store_(spread(faces, values)) {}

Latents::Latents(const std::filesystem::path& file, const AvatarInfo& info)
    : store_(Checkpoint::open(file)) {
  const auto& stored = std::get<Checkpoint>(store_);
  const TensorInfo* tensor = stored.find(k_tensor);
  if (tensor == nullptr || tensor->dtype != DType::f32 || tensor->shape != shape_of(info.frames))
    throw Error(Code::invalid, fmt::format("{}: tensor \"{}\" must be F32 [{}, 8, 32, 32]",
                                           file.string(), k_tensor, info.frames));
  const auto made_by = stored.metadata().find(k_checksum_key);
  if (made_by == stored.metadata().end() || made_by->second != info.model_checksum)
    throw Error(Code::invalid, fmt::format("{}: {} differs from the one in avatar.json",
                                           file.string(), k_checksum_key));
  mapped_floats(stored);
}

std::span<const float> Latents::values() const {
  if (const auto* own = std::get_if<std::vector<float>>(&store_)) return *own;
  return mapped_floats(std::get<Checkpoint>(store_));
}

NdArray<float> Latents::at(std::int64_t frame) const {
  const auto row =
      values().subspan(static_cast<std::size_t>(frame) * k_latent_values, k_latent_values);
  NdArray<float> latent(shape_of(1), {row.begin(), row.end()});
  if (const auto* file = std::get_if<Checkpoint>(&store_)) file->check();
  const bool finite = std::all_of(row.begin(), row.end(), [](float v) { return std::isfinite(v); });
  if (!finite)
    throw Error(Code::invalid,
                fmt::format("the latent of frame {} holds values that are not finite", frame));
  return latent;
}

void Latents::write(const std::filesystem::path& file, const std::string& model_checksum,
                    const std::map<std::string, std::string>& metadata) const {
  write_latents(file, values(), model_checksum, metadata);
}

void write_latents(const std::filesystem::path& file, std::span<const float> values,
                   const std::string& model_checksum,
                   const std::map<std::string, std::string>& metadata) {
  SafetensorsWriter writer;
  for (const auto& [key, value] : metadata) writer.add_metadata(key, value);
  writer.add_metadata(k_checksum_key, model_checksum);
  writer.add(k_tensor, DType::f32,
             shape_of(static_cast<std::int64_t>(values.size() / k_latent_values)),
             std::as_bytes(values));
  writer.write(file);
}

void write_latents(const std::filesystem::path& file, std::int64_t frames,
                   std::function<std::span<const float>()> next,
                   const std::string& model_checksum) {
  SafetensorsWriter writer;
  writer.add_metadata(k_checksum_key, model_checksum);
  writer.add_in_pieces(k_tensor, DType::f32, shape_of(frames),
                       [next = std::move(next)] { return std::as_bytes(next()); });
  writer.write(file);
}

}  // namespace navtalk
