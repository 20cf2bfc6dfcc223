// What Vorbis's setup header describes: FFmpeg unpacks its codebooks, and a few kilobytes of them may
// take hundreds of megabytes. Private to core/media.
#pragma once

#include <cstdint>
#include <span>

#include "core/media/ffmpeg.h"

namespace navtalk::media {

// Bytes, about, that the codebooks of a setup packet take, up to where it breaks off; 0 for other packets.
std::int64_t vorbis_codebook_bytes(std::span<const std::uint8_t> packet);
// The same for the three headers as a container stores them; 0 for other codecs.
std::int64_t vorbis_codebook_bytes(const AVCodecParameters& codec);

// libvorbis writes 0.5 to 2 MB, by rate and channels.
inline constexpr std::int64_t k_most_codebook_bytes = 32 << 20;

}  // namespace navtalk::media
