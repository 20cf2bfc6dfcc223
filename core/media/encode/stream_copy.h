// Takes a video's H.264 stream over into an MP4 file of its own without encoding it again, where
// the stream is good for random access: constant frame rate, 8-bit 4:2:0, shown as coded (no
// rotation, nothing cut by edit lists), key frames from which decoding can really start and that
// stand close enough together.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "core/base/frame_rate.h"
#include "core/media/limits.h"

namespace navtalk {

// Copies the first video stream of `source` to `destination`, shown from time 0 at `fps`. nullopt
// when it was copied; else why it has to be encoded ("it has 30 frames a second"), and nothing was
// written. The same source gives the same bytes. Error{not_found}, Error{invalid} when the source
// cannot be read, is seen to be truncated or exceeds the limits, Error{failed} when writing fails.
std::optional<std::string> copy_video_stream(const std::filesystem::path& source,
                                             const std::filesystem::path& destination,
                                             const FrameRate& fps, const MediaLimits& limits = {});

}  // namespace navtalk
