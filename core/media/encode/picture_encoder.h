// The encoders of a video's pictures, one for each PictureCodec, and how a BGR picture becomes what
// they take. Private to core/media.
#pragma once

#include <functional>

#include "core/media/encode/video_writer.h"
#include "core/media/ffmpeg.h"

namespace navtalk::media {

struct PictureEncoder {
  CodecPtr codec;
  // A BGR picture of the options' size into a frame of the codec's format and size.
  std::function<void(ConstImageView bgr, AVFrame& frame)> convert;
};

// Error{failed} when this FFmpeg lacks the encoder, or it refuses the options.
PictureEncoder open_picture_encoder(const VideoOptions& options);

}  // namespace navtalk::media
