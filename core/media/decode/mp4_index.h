// How many samples the index of an MP4 file names, before FFmpeg makes a list of them: a table of a few
// bytes may name billions. Private to core/media.
#pragma once

#include <cstdint>
#include <string>

#include "core/media/ffmpeg.h"
#include "core/media/limits.h"

namespace navtalk::media {

// Why the index is not read; "": it may be. Sets `file` back to its begin. Reads all that is not a sample's
// data; `file` must be able to seek.
std::string why_index_too_large(AVIOContext& file, const MediaLimits& limits);

// Samples of all streams, each counted once for every part of an edit list.
std::int64_t most_index_samples(const MediaLimits& limits);

}  // namespace navtalk::media
