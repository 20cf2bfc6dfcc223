#include "core/media/encode/video_format.h"

#include <algorithm>
#include <array>

namespace navtalk {
namespace {

constexpr double k_longest_picture_s = 60;
constexpr FrameRate k_fastest = 1000, k_fastest_gif = 50;  // browsers slow faster GIFs down

constexpr std::array k_formats = {
    VideoFormat{".mp4", "mp4", PictureCodec::h264, SoundCodec::aac},
    VideoFormat{".mov", "mov", PictureCodec::h264, SoundCodec::aac},
    VideoFormat{".mkv", "matroska", PictureCodec::h264, SoundCodec::aac},
    VideoFormat{".webm", "webm", PictureCodec::vp9, SoundCodec::opus},
    VideoFormat{".gif", "gif", PictureCodec::gif, SoundCodec::none, k_longest_picture_s},
    VideoFormat{".webp", "webp", PictureCodec::webp, SoundCodec::none, k_longest_picture_s}};

}  // namespace

const VideoFormat* video_format(const std::filesystem::path& name) {
  std::string ending = name.extension().string();
  std::ranges::transform(ending, ending.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  const auto* found = std::ranges::find(k_formats, ending, &VideoFormat::ending);
  return found == k_formats.end() ? nullptr : found;
}

const VideoFormat& mp4_format() { return k_formats.front(); }

FrameRate fastest_rate(const VideoFormat& format) {
  return format.pictures == PictureCodec::gif ? k_fastest_gif : k_fastest;
}

std::string video_endings() {
  std::string all;
  for (const VideoFormat& format : k_formats)
    all += (all.empty() ? "" : ", ") + std::string(format.ending);
  return all;
}

}  // namespace navtalk
