// The compressed pictures of an MP4 file's H.264 stream: where each lies, when it is shown.
// Private to core/media: other folders must not see FFmpeg.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "core/media/decode/byte_source.h"
#include "core/media/ffmpeg.h"
#include "core/media/limits.h"

namespace navtalk::media {

// One compressed picture; a list of them stands in decoding order.
struct Sample {
  std::int64_t position = 0;  // of its bytes in the file
  int size = 0;
  std::int64_t pts = 0, dts = 0;
  bool key = false;
};

// Each throws Error{invalid} with the path and what is wrong with the file.
InputPtr open_mp4(ByteSource& source, const std::filesystem::path& path, const MediaLimits& limits);
// 8-bit 4:2:0 or RGB.
const AVStream* h264_stream(AVFormatContext* format, const std::filesystem::path& path,
                            const MediaLimits& limits);
std::vector<Sample> read_samples(AVFormatContext* format, const AVStream* stream,
                                 const std::filesystem::path& path);

}  // namespace navtalk::media
