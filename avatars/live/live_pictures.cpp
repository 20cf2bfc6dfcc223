#include "avatars/live/live_pictures.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "avatars/live/live_face.h"
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

}  // namespace

LivePictures::LivePictures(std::shared_ptr<const Bundle> avatar, Clip clip, int width,
                           int kbit_per_s)
    : avatar_(std::move(avatar)),
      clip_(std::move(clip)),
      width_(width_of(*avatar_, width)),
      height_(height_of(*avatar_, width)),
      encoder_(std::make_unique<H264Stream>(H264Options{
          .width = width_, .height = height_, .fps = k_live_fps, .kbit_per_s = kbit_per_s})) {}

void LivePictures::show(ImageView frame, std::int64_t index, const NdArray<std::uint8_t>& face,
                        float lips) const {
  const AvatarFace& place = *avatar_->face(index);
  const ConstImageView generated{face.values.data(), k_face_size, k_face_size, 3,
                                 std::ptrdiff_t{k_face_size} * 3};
  const Box box = intersection(place.placement.box, Box{0, 0, frame.width, frame.height});
  const bool faded = lips < 1 && !box.empty();
  const Image before = faded ? copy_of(frame.crop(box)) : Image();
  compose(frame, generated, place.placement, avatar_->mask(index), place.mask_region);
  if (faded) fade(frame.crop(box), before.view(), 1 - lips);
}

AccessUnit LivePictures::encode(std::int64_t number,
                                const std::optional<NdArray<std::uint8_t>>& face, float lips,
                                bool key) {
  const std::int64_t index = live_frame(*avatar_, number);
  Image frame = clip_.frame(index);
  if (face && lips > 0) show(frame.view(), index, *face, lips);
  if (frame.width == width_ && frame.height == height_) return encoder_->encode(frame.view(), key);
  Image scaled(width_, height_, frame.channels);
  resize(frame.view(), scaled.view(), Interpolation::linear);
  return encoder_->encode(scaled.view(), key);
}

}  // namespace navtalk
