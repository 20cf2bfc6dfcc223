// A golden file opened for reading (format "navtalk-golden-1", docs/golden.md): which groups it
// holds, and their tensors with the shapes that the format asks for.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/frame_rate.h"
#include "core/checkpoint/checkpoint.h"
#include "core/tensor/ndarray.h"

namespace navtalk {

// A group and the tensors without which it cannot be compared.
struct GoldenGroup {
  std::string_view name;
  std::vector<std::string_view> tensors;
  bool face_network = false;  // runs one of the nets that prepare avatars, not MuseTalk's own
};
std::span<const GoldenGroup> golden_groups();

class GoldenFile {
 public:
  // Error{not_found}; Error{invalid} for another format or a file without any known group.
  static GoldenFile open(const std::filesystem::path& path);

  // The first tensor that the group lacks; empty when the group is whole.
  std::string_view missing(const GoldenGroup& group) const;
  bool holds(std::string_view group) const;
  // Truncated to a whole rate, as the reference does; Error{invalid} at open.
  const FrameRate& fps() const { return fps_; }

  // Error{invalid} that names file and tensor when the shape is another; -1 stands for any length.
  NdArray<float> floats(std::string_view tensor, const Shape& shape) const;
  NdArray<std::int64_t> integers(std::string_view tensor, const Shape& shape) const;
  NdArray<std::uint8_t> bytes(std::string_view tensor, const Shape& shape) const;

  // Error{invalid} about this file: its path, then the cause.
  [[noreturn]] void fail(const std::string& cause) const;

 private:
  explicit GoldenFile(Checkpoint checkpoint) : checkpoint_(std::move(checkpoint)) {}
  void require_shape(std::string_view tensor, const Shape& shape) const;

  Checkpoint checkpoint_;
  FrameRate fps_ = 25;
};

// "[2,4,32,32]", with * for any length.
std::string text(const Shape& shape);

}  // namespace navtalk
