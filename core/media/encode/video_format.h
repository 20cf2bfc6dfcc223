// The kinds of video file that can be written, by the ending of their names.
#pragma once

#include <filesystem>
#include <string>

#include "core/base/frame_rate.h"

namespace navtalk {

enum class PictureCodec { h264, vp9, gif, webp };
enum class SoundCodec { none, aac, opus, pcm };  // pcm: 16 bits, in a WAV file

struct VideoFormat {
  const char* ending;  // ".mp4", lower case
  const char* muxer;   // FFmpeg's name of the container
  PictureCodec pictures;
  SoundCodec sound;
  double longest_s = 0;  // 0: no bound; pictures that browsers load whole stay short
};

// The format that the ending of `name` stands for, in lower or upper case; nullptr for another one.
const VideoFormat* video_format(const std::filesystem::path& name);
const VideoFormat& mp4_format();
// Frames per second that the format has at most.
FrameRate fastest_rate(const VideoFormat& format);
// ".mp4, .mov, .mkv, .webm, .gif, .webp", for messages.
std::string video_endings();

}  // namespace navtalk
