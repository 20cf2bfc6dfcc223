// The one way in which FFmpeg opens a file: it gets the file's bytes and nothing else, and chooses
// among the demuxers and decoders that are listed here. Playlists, and whatever else names other
// files, are not among them. Private to core/media.
#pragma once

#include <filesystem>
#include <string>

#include "core/media/decode/byte_source.h"
#include "core/media/ffmpeg.h"
#include "core/media/limits.h"

namespace navtalk::media {

enum class Accept {
  any_container,
  mp4_only,  // a bundle's files, which navtalk wrote
};

// The container with its streams found, of which only the best one of the type that is asked for has a
// codec; or nullptr, and why not.
struct OpenedMedia {
  InputPtr input{};
  std::string why{};
};
// `source` must outlive the result. Calls bound_blocks(). Pictures with EXIF data, texts or profiles of
// their own are not looked into; their packets go through drop_metadata() before they are decoded.
OpenedMedia open_media(ByteSource& source, const std::filesystem::path& path, Accept accept,
                       AVMediaType type, const MediaLimits& limits);

// From then on FFmpeg takes no block of memory, in the whole process, that is larger than a picture within
// `limits` needs: a few bytes of a header may ask for gigabytes.
void bound_blocks(const MediaLimits& limits);

// For an AVERROR of reading or decoding `path`. FFmpeg says that it has no memory also of a block that an input may not take
// (bound_blocks()), for which the input is at fault: then this does nothing. Error{failed} where the machine has none now;
// std::bad_alloc where this process has reached a bound of its own (core/process/confine.h).
void throw_if_no_memory(int error_code, const std::filesystem::path& path);

// The decoders that may be used, for AVCodecContext.codec_whitelist.
const char* allowed_decoders();

// AVCodecContext.max_pixels, which also counts what FFmpeg adds to lines for its own use.
std::int64_t decoder_max_pixels(const MediaLimits& limits);

// Error{invalid} when the stream says that it is larger or longer than `limits` allow.
void check_limits(const AVFormatContext& input, const AVStream& stream, const MediaLimits& limits,
                  const std::filesystem::path& path);
// How long the stream or the whole file says that it lasts, whichever is longer; 0: neither says so.
double announced_seconds(const AVFormatContext& input, const AVStream& stream);
// Error{invalid} for sound of more channels or a higher rate than any recording for speech has.
inline constexpr int k_most_rate_hz = 384'000, k_most_channels = 16;
inline constexpr const char *k_duration_rule = "duration", *k_sampling_rule = "sampling";
void check_sound(int rate_hz, int channels, const std::filesystem::path& path);
// Error{invalid} for sound or video that lasts longer than `limits` allow.
void check_duration(double seconds, const MediaLimits& limits, const std::filesystem::path& path);

}  // namespace navtalk::media
