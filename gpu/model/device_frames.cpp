#include "gpu/model/device_frames.h"

#include <ATen/ATen.h>
#include <c10/core/DeviceGuard.h>
#include <fmt/format.h>

#include <cstring>
#include <map>
#include <optional>

#include "core/base/check.h"
#include "core/base/error.h"
#include "gpu/image/color.h"
#include "gpu/image/paste.h"
#include "gpu/model/torch_call.h"
#include "gpu/nets/device_stream.h"

namespace navtalk {
namespace {

std::size_t mask_bytes(const PlacedFrame& frame) {
  return static_cast<std::size_t>(frame.mask_region.width()) *
         static_cast<std::size_t>(frame.mask_region.height());
}

void require_content(const PlacedFrame& frame, const FrameContent& content) {
  const std::size_t picture = yuv420_bytes(frame.width, frame.height), mask = mask_bytes(frame);
  if (content.nv12.size() == picture && content.mask.size() == mask) return;
  throw Error(
      Code::invalid,
      fmt::format("frame {} has {} bytes of NV12 and {} of mask; {}x{} pixels and the mask's "
                  "region take {} and {}",
                  frame.frame, content.nv12.size(), content.mask.size(), frame.width, frame.height,
                  picture, mask));
}

// The faces of all slices, in a format that the kernel reads: pixel after pixel.
std::vector<at::Tensor> in_nhwc(std::span<const at::Tensor> slices) {
  std::vector<at::Tensor> dense;
  for (const at::Tensor& slice : slices) {
    const bool half = slice.scalar_type() == at::kHalf;
    dense.push_back(
        (half ? slice : slice.to(at::kFloat)).contiguous(at::MemoryFormat::ChannelsLast));
  }
  return dense;
}

}  // namespace

DeviceFrames::Resident DeviceFrames::resident(const PlacedFrame& frame) {
  const Key key{frame.avatar, frame.frame};
  {
    const std::lock_guard lock(mutex_);
    if (std::optional<Resident> found = kept_.find(key)) return *found;
  }
  const FrameContent content = frame.load();
  require_content(frame, content);
  const std::size_t size = content.nv12.size() + content.mask.size();
  const auto fill = [&](std::uint8_t* data) {
    std::memcpy(data, content.nv12.data(), content.nv12.size());
    std::memcpy(data + content.nv12.size(), content.mask.data(), content.mask.size());
  };
  const Resident made{
      .bytes = copies_.to_device({static_cast<std::int64_t>(size)}, at::kByte, fill),
      .latent = tensor(content.latent).clone().to(unet_),
      .mask_at = std::ssize(content.nv12)};
  const std::lock_guard lock(mutex_);
  kept_.keep(key, made, made.bytes.nbytes() + made.latent.nbytes());
  return made;
}

void DeviceFrames::limit(std::size_t budget_bytes) {
  const std::lock_guard lock(mutex_);
  budget_ = budget_bytes;
  kept_.limit(budget_);
}

void DeviceFrames::drop() {
  const std::lock_guard lock(mutex_);
  kept_.limit(0);
  kept_.limit(budget_);
}

std::vector<DeviceFrames::Resident> DeviceFrames::resident(std::span<const PlacedFrame> frames) {
  std::vector<Resident> all;
  for (const PlacedFrame& frame : frames) all.push_back(resident(frame));
  return all;
}

// Copies begin as each launch ends, and are waited for at the end.
std::vector<FinishedPicture> DeviceFrames::paste(std::span<const PlacedFrame> frames,
                                                 std::span<const Resident> residents,
                                                 std::span<const at::Tensor> faces) const {
  const c10::DeviceGuard guard(device_);
  const std::vector<at::Tensor> slices = in_nhwc(faces);
  std::vector<const void*> face_data;
  for (const at::Tensor& slice : slices)
    for (std::int64_t i = 0; i < slice.size(0); ++i)
      face_data.push_back(static_cast<const std::uint8_t*>(slice.const_data_ptr()) +
                          i * slice.stride(0) * slice.element_size());
  NAVTALK_CHECK(face_data.size() == frames.size() && residents.size() == frames.size());
  const auto format = slices.empty() || slices.front().scalar_type() == at::kHalf
                          ? cuda::Format::fp16
                          : cuda::Format::fp32;

  std::map<std::pair<int, int>, std::vector<std::size_t>> sizes;
  for (std::size_t i = 0; i < frames.size(); ++i)
    sizes[{frames[i].width, frames[i].height}].push_back(i);
  std::vector<nets::DeviceCopies::Copy> copies;
  for (const auto& [size, members] : sizes) {
    const std::size_t bytes = yuv420_bytes(size.first, size.second);
    const at::Tensor out = at::empty({std::ssize(members), static_cast<std::int64_t>(bytes)},
                                     at::TensorOptions().dtype(at::kByte).device(device_));
    auto* to = static_cast<std::uint8_t*>(out.mutable_data_ptr());
    std::vector<cuda::FacePaste> batch;
    for (const std::size_t i : members) {
      const auto* data = static_cast<const std::uint8_t*>(residents[i].bytes.const_data_ptr());
      batch.push_back({.frame = data,
                       .out = to + batch.size() * bytes,
                       .face = face_data[i],
                       .mask = data + residents[i].mask_at,
                       .mask_stride = frames[i].mask_region.width(),
                       .mask_region = frames[i].mask_region,
                       .placement = frames[i].placement});
    }
    cuda::paste_faces(batch, size.first, size.second, format, 3, std::nullopt,
                      nets::stream_of(device_));
    copies.push_back(copies_.to_host(out));
  }
  std::vector<FinishedPicture> pictures(frames.size());
  auto copy = copies.begin();
  for (const auto& [size, members] : sizes) {
    const std::size_t bytes = yuv420_bytes(size.first, size.second);
    const std::shared_ptr<const std::uint8_t> host = (copy++)->wait();
    const std::uint8_t* from = host.get();
    for (const std::size_t i : members) {
      pictures[i] = {.data = {host, from}, .bytes = bytes};
      from += bytes;
    }
  }
  return pictures;
}

}  // namespace navtalk
