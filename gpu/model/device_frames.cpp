#include "gpu/model/device_frames.h"

#include <ATen/ATen.h>
#include <c10/core/DeviceGuard.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>

#include "core/base/check.h"
#include "core/base/error.h"
#include "gpu/image/color.h"
#include "gpu/image/paste.h"
#include "gpu/image/scale.h"
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

at::Tensor bytes_on(const at::Device& device, std::size_t bytes) {
  return at::empty({static_cast<std::int64_t>(bytes)},
                   at::TensorOptions().dtype(at::kByte).device(device));
}

std::shared_ptr<const std::uint8_t> held(const at::Tensor& bytes) {
  return {static_cast<const std::uint8_t*>(bytes.const_data_ptr()),
          [bytes](const std::uint8_t*) {}};
}

// Its copy needs nothing of the model, which may be gone by then.
FinishedPicture staying(const at::Tensor& bytes) {
  return {.data = held(bytes), .bytes = bytes.nbytes(), .copy = [bytes] {
            return run(at::get_num_threads(), "copying a picture",
                       [&] { return held(bytes.cpu().clone()); });
          }};
}

using Size = std::pair<int, int>;

Size picture_size(const PlacedFrame& frame) {
  return {frame.picture_width(), frame.picture_height()};
}

// Device memory for what is made of a batch:
//
//   hosted                    the pictures that are copied to the host, one behind the other
//   one block each            those that stay
//   scratch                   of each frame: pasted pictures that are scaled yet, what matching colours takes
class Outputs {
 public:
  Outputs(const at::Device& device, std::span<const PlacedFrame> frames) : places_(frames.size()) {
    std::size_t hosted = 0, scratch = 0;
    for (std::size_t i = 0; i < frames.size(); ++i) {
      Place& place = places_[i];
      const PlacedFrame& frame = frames[i];
      const auto [width, height] = picture_size(frame);
      place.bytes = yuv420_bytes(width, height);
      if (frame.stays)
        place.own = bytes_on(device, place.bytes);
      else
        place.hosted = take(hosted, place.bytes);
      if (picture_size(frame) != Size{frame.width, frame.height})
        place.pasted = take(scratch, yuv420_bytes(frame.width, frame.height));
      if (frame.finish.match_colour) place.match = take(scratch, cuda::k_match_bytes);
    }
    hosted_ = bytes_on(device, hosted);
    scratch_ = bytes_on(device, scratch);
  }

  const at::Tensor& hosted() const { return hosted_; }
  std::uint8_t* picture(std::size_t i) const {
    const Place& place = places_[i];
    return place.own.defined() ? data(place.own) : data(hosted_) + *place.hosted;
  }
  // Where its face is put into the frame; in most cases that is the picture.
  std::uint8_t* pasted(std::size_t i) const {
    const Place& place = places_[i];
    return place.pasted ? data(scratch_) + *place.pasted : picture(i);
  }
  void* match(std::size_t i) const {
    const Place& place = places_[i];
    return place.match ? data(scratch_) + *place.match : nullptr;
  }
  // `host` is the copy of hosted().
  std::vector<FinishedPicture> pictures(const std::shared_ptr<const std::uint8_t>& host) const {
    std::vector<FinishedPicture> all;
    for (const Place& place : places_)
      all.push_back(
          place.own.defined()
              ? staying(place.own)
              : FinishedPicture{.data = {host, host.get() + *place.hosted}, .bytes = place.bytes});
    return all;
  }

 private:
  struct Place {
    std::size_t bytes = 0;  // of the picture
    at::Tensor own{};       // of one that stays
    std::optional<std::size_t> hosted{}, pasted{}, match{};
  };

  // Where a block begins for the widest access.
  static std::size_t take(std::size_t& end, std::size_t bytes) {
    constexpr std::size_t k_alignment = 256;
    const std::size_t begin = (end + k_alignment - 1) / k_alignment * k_alignment;
    end = begin + bytes;
    return begin;
  }
  static std::uint8_t* data(const at::Tensor& bytes) {
    return static_cast<std::uint8_t*>(bytes.mutable_data_ptr());
  }

  std::vector<Place> places_;
  at::Tensor hosted_{}, scratch_{};
};

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
  const cuda::Stream stream = nets::stream_of(device_);

  const Outputs outputs(device_, frames);
  std::map<Size, std::vector<cuda::FacePaste>> pastes;
  std::map<std::pair<Size, Size>, std::vector<cuda::FrameScale>> scalings;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const PlacedFrame& frame = frames[i];
    const Size size{frame.width, frame.height};
    const auto* data = static_cast<const std::uint8_t*>(residents[i].bytes.const_data_ptr());
    pastes[size].push_back({.frame = data,
                            .out = outputs.pasted(i),
                            .face = face_data[i],
                            .mask = data + residents[i].mask_at,
                            .mask_stride = frame.mask_region.width(),
                            .mask_region = frame.mask_region,
                            .placement = frame.placement,
                            .unsharp = frame.finish.unsharp,
                            .match = outputs.match(i),
                            .lips = frame.lips});
    if (picture_size(frame) != size)
      scalings[{size, picture_size(frame)}].push_back(
          {.from = outputs.pasted(i), .to = outputs.picture(i)});
  }
  for (const auto& [size, batch] : pastes)
    cuda::paste_faces(batch, size.first, size.second, format, 3, stream);
  for (const auto& [sizes, batch] : scalings)
    cuda::scale_frames(batch, sizes.first.first, sizes.first.second, sizes.second.first,
                       sizes.second.second, stream);
  std::optional<nets::DeviceCopies::Copy> copy;
  if (outputs.hosted().numel() > 0) copy = copies_.to_host(outputs.hosted());
  if (std::ranges::any_of(frames, &PlacedFrame::stays)) copies_.wait();
  return outputs.pictures(copy ? copy->wait() : nullptr);
}

}  // namespace navtalk
