// Takes texts, colour profiles and EXIF data out of coded pictures. FFmpeg keeps them all, unpacked, and
// a few kilobytes of them may describe gigabytes. Private to core/media.
#pragma once

#include <cstdint>
#include <span>

#include "core/media/ffmpeg.h"

namespace navtalk::media {

// Does its decoder keep such data? PNG, APNG, JPEG and WebP.
bool has_metadata(AVCodecID kind);

// In place; the picture is then as long as the result says. Other codecs, and what cannot be
// understood, stay as they are.
std::size_t drop_metadata(AVCodecID kind, std::span<std::uint8_t> picture);

// The same for a packet of a video, and for what its container stores ahead of the packets.
void drop_metadata(AVCodecID kind, AVPacket& packet);
void drop_metadata(AVCodecParameters& codec);

}  // namespace navtalk::media
