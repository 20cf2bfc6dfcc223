// What the codes of a lossless WebP picture take, before it is decoded. Private to core/media.
#pragma once

#include <cstdint>
#include <span>

namespace navtalk::media {

// For one group FFmpeg takes 8 KB of short codes, or about 15 KB of long ones.
inline constexpr int k_most_code_groups = 4096;

// Groups of codes in a WebP file's lossless pictures; 0: there is none. libwebp writes 2,600 at most, a
// file may have 65,536. Error{invalid} when the file ends before they are known, or breaks their rules.
int webp_code_groups(std::span<const std::uint8_t> file);

}  // namespace navtalk::media
