#include "avatars/live/live_pictures.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "avatars/bundle/device_frame.h"
#include "avatars/bundle/face_finish.h"
#include "avatars/live/live_rate.h"
#include "gpu/image/color.h"
#include "gpu/image/compose.h"
#include "gpu/image/resize.h"

namespace navtalk {
namespace {

int even(double side) { return 2 * static_cast<int>(std::lround(side / 2)); }

int width_of(const Bundle& avatar, int wanted) {
  return even(wanted > 0 ? wanted : avatar.info().width);
}

int height_of(const Bundle& avatar, int wanted) {
  const AvatarInfo& info = avatar.info();
  return even(static_cast<double>(width_of(avatar, wanted)) * info.height / info.width);
}

// frame + weight * (changed - frame), rounded, in the frame.
void fade(ImageView frame, ConstImageView changed, float weight) {
  for (int y = 0; y < frame.height; ++y) {
    std::uint8_t* to = frame.row(y);
    const std::uint8_t* from = changed.row(y);
    for (int i = 0; i < frame.width * frame.channels; ++i) {
      const float value = static_cast<float>(to[i]) +
                          weight * (static_cast<float>(from[i]) - static_cast<float>(to[i]));
      to[i] = static_cast<std::uint8_t>(value + 0.5F);
    }
  }
}

Image copy_of(ConstImageView part) {
  Image image(part.width, part.height, part.channels);
  for (int y = 0; y < part.height; ++y) {
    std::copy_n(part.row(y), static_cast<std::ptrdiff_t>(part.width) * part.channels,
                image.view().row(y));
  }
  return image;
}

// As a device holds it: the chroma of 2x2 pixels is one.
Image with_chroma_of_video(const Image& frame) {
  std::vector<std::uint8_t> nv12(yuv420_bytes(frame.width, frame.height));
  bgr_to_nv12(frame.view(), nv12.data());
  Image image(frame.width, frame.height);
  nv12_to_bgr(nv12.data(), image.view());
  return image;
}

void show(ImageView frame, const Bundle& avatar, std::int64_t index,
          const NdArray<std::uint8_t>& face, float lips) {
  const AvatarFace& place = *avatar.face(index);
  const ConstImageView generated{face.values.data(), k_face_size, k_face_size, 3,
                                 std::ptrdiff_t{k_face_size} * 3};
  const Box box = intersection(place.placement.box, Box{0, 0, frame.width, frame.height});
  const bool faded = lips < 1 && !box.empty();
  const Image before = faded ? copy_of(frame.crop(box)) : Image();
  compose(frame, generated, place.placement, avatar.mask(index), place.mask_region,
          face_finish(avatar.info()));
  if (faded) fade(frame.crop(box), before.view(), 1 - lips);
}

}  // namespace

I420Picture as_i420(std::span<const std::uint8_t> nv12, int width, int height) {
  I420Picture picture(width, height);
  const std::size_t luma = static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  std::copy_n(nv12.data(), luma, picture.bytes.data());
  std::uint8_t* u = picture.bytes.data() + luma;
  std::uint8_t* v = u + luma / 4;
  for (std::size_t i = luma; i < nv12.size(); i += 2) {
    *u++ = nv12[i];
    *v++ = nv12[i + 1];
  }
  return picture;
}

LivePictures::LivePictures(std::shared_ptr<const Bundle> avatar, std::shared_ptr<SharedClip> clip,
                           int width, int kbit_per_s, const LiveEncoders& encoders,
                           bool finished_on_device)
    : avatar_(std::move(avatar)),
      clip_(std::move(clip)),
      width_(width_of(*avatar_, width)),
      height_(height_of(*avatar_, width)),
      finished_on_device_(finished_on_device && finishes_on_device(avatar_->info())),
      encoder_(encoders.open(
          {.width = width_, .height = height_, .fps = k_live_rate, .kbit_per_s = kbit_per_s})) {}

Image LivePictures::shown(std::int64_t index, const NdArray<std::uint8_t>* face, float lips) {
  Image frame = clip_->frame(index);
  if (face != nullptr && avatar_->face(index) && lips > 0)
    show(frame.view(), *avatar_, index, *face, lips);
  return frame;
}

I420Picture LivePictures::finished(const ClipFrame& frame, const NdArray<std::uint8_t>* face,
                                   float lips) {
  Image picture = shown(frame.index, face, lips);
  if (frame.before >= 0)
    fade(picture.view(), shown(frame.before, face, lips).view(), 1 - frame.weight);
  return scaled(picture);
}

I420Picture LivePictures::still(const ClipFrame& frame) { return finished(frame, nullptr, 0); }

I420Picture LivePictures::with_face(const ClipFrame& frame, const NdArray<std::uint8_t>& face,
                                    float lips) {
  return finished(frame, &face, lips);
}

std::optional<PlacedFrame> LivePictures::placed(const ClipFrame& frame, float lips, int gpu) {
  const AvatarInfo& info = avatar_->info();
  if (frame.before >= 0 || lips <= 0 || !finishes_on_device(info)) return std::nullopt;
  auto placed = placed_frame(*avatar_, frame.index,
                             [this, index = frame.index] { return clip_->frame(index); });
  if (!placed) return std::nullopt;
  placed->finish = face_finish(info);
  placed->lips = lips;
  placed->shown_width = width_;
  placed->shown_height = height_;
  placed->stays = encoder_->codes_from() == gpu;
  return placed;
}

I420Picture LivePictures::scaled(const Image& frame) const {
  I420Picture picture(width_, height_);
  if (frame.width == width_ && frame.height == height_) {
    bgr_to_i420(frame.view(), picture.bytes.data());
    return picture;
  }
  Image resized(width_, height_, frame.channels);
  if (finished_on_device_)
    resize(with_chroma_of_video(frame).view(), resized.view(), Interpolation::linear);
  else
    resize(frame.view(), resized.view(), Interpolation::linear);
  bgr_to_i420(resized.view(), picture.bytes.data());
  return picture;
}

}  // namespace navtalk
