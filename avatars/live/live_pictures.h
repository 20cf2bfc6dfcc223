// The pictures of one live session: the clip's frame, the generated face in it as far as it is to be seen, scaled, and
// coded. Its functions are called one at a time, on any thread, but for avatar(), hearing() and placed(); several sessions
// may share an avatar.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "avatars/bundle/bundle.h"
#include "avatars/live/live_encoders.h"
#include "avatars/live/live_hearing.h"
#include "avatars/live/shared_clip.h"
#include "core/media/encode/h264_stream.h"
#include "core/tensor/ndarray.h"
#include "core/tensor/video_picture.h"
#include "gpu/engine/engine_backend.h"
#include "gpu/model/placed_frame.h"

namespace navtalk {

// A device's picture for the encoder.
I420Picture as_i420(std::span<const std::uint8_t> nv12, int width, int height);

class LivePictures : public EngineAvatar {
 public:
  // `clip` is the avatar's; sessions may share it. `width` in pixels, 0: the avatar's; the height
  // follows, and both are even. `finished_on_device`: a device makes the pictures for which placed() says how; those that are made
  // here are then scaled as it scales, so that nothing but the mouth changes between the two. Error{invalid} for a width that is not
  // from 16 to 4096.
  LivePictures(std::shared_ptr<const Bundle> avatar, std::shared_ptr<SharedClip> clip, int width,
               int kbit_per_s, const LiveEncoders& encoders = {}, bool finished_on_device = false);

  int width() const { return width_; }
  int height() const { return height_; }
  const std::string& codec() const { return encoder_->codec(); }

  // The clip as it is, and with a face [256,256,3], BGR, sharpened and in the frame's colours where the avatar says so, as in a
  // video; `lips`: how much of that is seen, 0 to 1. Of a frame without a face nothing changes. Where one clip passes into another, both get the face: it is the same person, in nearly the
  // same place.
  I420Picture still(const ClipFrame& frame);
  I420Picture with_face(const ClipFrame& frame, const NdArray<std::uint8_t>& face, float lips);
  // The same for a device, which makes the picture of it; nullopt where it cannot: the frame has no face, nothing of it is seen, two
  // clips are seen, or the avatar has odd sides. `gpu`: the device's; the picture stays there where the encoder takes it from there.
  // What it returns uses this object.
  std::optional<PlacedFrame> placed(const ClipFrame& frame, float lips = 1, int gpu = 0);
  AccessUnit encode(const VideoPicture& picture, bool key) {
    return encoder_->encode(picture, key);
  }

  const Bundle& avatar() const { return *avatar_; }
  LiveHearing& hearing() { return hearing_; }  // of the backend, until it has heard

 private:
  Image shown(std::int64_t index, const NdArray<std::uint8_t>* face, float lips);
  I420Picture finished(const ClipFrame& frame, const NdArray<std::uint8_t>* face, float lips);
  I420Picture scaled(const Image& frame) const;

  const std::shared_ptr<const Bundle> avatar_;
  const std::shared_ptr<SharedClip> clip_;
  const int width_, height_;
  const bool finished_on_device_;
  const std::unique_ptr<H264Stream> encoder_;
  LiveHearing hearing_{};
};

}  // namespace navtalk
