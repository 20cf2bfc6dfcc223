#include "avatars/bundle/mask_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>

#include "core/base/check.h"
#include "core/base/error.h"
#include "core/checkpoint/safetensors_writer.h"

namespace navtalk {
namespace {

ConstImageView open_mask(const Checkpoint& file, int mask, const Box& region) {
  const std::string name = std::to_string(mask);
  const auto refuse = [&](const std::string& why) {
    return Error(Code::invalid,
                 fmt::format("{}: tensor \"{}\" {}", file.path().string(), name, why));
  };
  const TensorInfo* info = file.find(name);
  if (info == nullptr) throw refuse("is missing");
  if (info->dtype != DType::u8 || info->shape != Shape{region.height(), region.width()})
    throw refuse(fmt::format("must be U8 [{}, {}]", region.height(), region.width()));
  const auto bytes = file.mapped(name);
  if (!bytes) throw refuse("is not stored contiguously");
  return {reinterpret_cast<const std::uint8_t*>(bytes->data()), region.width(), region.height(), 1,
          region.width()};
}

}  // namespace

MaskFile::MaskFile(const std::filesystem::path& file, const Faces& faces)
    : file_(Checkpoint::open(file)) {
  for (const auto& face : faces) {
    if (!face) continue;
    const auto index = static_cast<std::size_t>(face->mask);
    if (index >= file_.tensors().size())
      throw Error(Code::invalid,
                  fmt::format("{}: tensor \"{}\" is missing", file.string(), face->mask));
    views_.resize(std::max(views_.size(), index + 1));
    ConstImageView& view = views_[index];
    if (view.data == nullptr) view = open_mask(file_, face->mask, face->mask_region);
    if (view.width != face->mask_region.width() || view.height != face->mask_region.height())
      throw Error(Code::invalid,
                  fmt::format("{}: tensor \"{}\" serves regions of two sizes in faces.json",
                              file.string(), face->mask));
  }
}

void write_masks(const std::filesystem::path& file, const std::vector<MaskSize>& sizes,
                 const std::function<ConstImageView(std::size_t)>& mask) {
  SafetensorsWriter writer;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const MaskSize& size = sizes[i];
    writer.add_in_pieces(std::to_string(i), DType::u8, {size.height, size.width}, [&, i] {
      const ConstImageView view = mask(i);
      NAVTALK_CHECK(view.channels == 1 && view.stride == view.width);
      NAVTALK_CHECK(view.width == size.width && view.height == size.height);
      return std::as_bytes(std::span(
          view.data, static_cast<std::size_t>(view.width) * static_cast<std::size_t>(view.height)));
    });
  }
  writer.write(file);
}

void write_masks(const std::filesystem::path& file, const std::vector<Image>& masks) {
  std::vector<MaskSize> sizes;
  for (const Image& mask : masks) sizes.push_back({mask.width, mask.height});
  write_masks(file, sizes, [&](std::size_t i) { return masks[i].view(); });
}

}  // namespace navtalk
