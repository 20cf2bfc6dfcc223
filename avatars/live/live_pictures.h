// The pictures of one live session as video: the clip's frame, the generated face in it as far as it
// is to be seen, scaled, and coded. One thread at a time; several sessions may share an avatar.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "avatars/bundle/bundle.h"
#include "avatars/bundle/clip.h"
#include "core/media/encode/h264_stream.h"
#include "core/tensor/ndarray.h"

namespace navtalk {

class LivePictures {
 public:
  // `clip` is the avatar's, this session's own. `width` in pixels, 0: the avatar's; the height
  // follows, and both are even. Error{invalid} for a width that is not from 16 to 4096.
  LivePictures(std::shared_ptr<const Bundle> avatar, Clip clip, int width, int kbit_per_s);

  int width() const { return width_; }
  int height() const { return height_; }
  const std::string& codec() const { return encoder_->codec(); }

  // `lips`: how much of the face is seen, 0 to 1.
  AccessUnit encode(std::int64_t number, const std::optional<NdArray<std::uint8_t>>& face,
                    float lips, bool key);

 private:
  void show(ImageView frame, std::int64_t index, const NdArray<std::uint8_t>& face,
            float lips) const;

  std::shared_ptr<const Bundle> avatar_;
  Clip clip_;
  int width_, height_;
  std::unique_ptr<H264Stream> encoder_;
};

}  // namespace navtalk
