// What an avatar is made from, and how it becomes frames.mp4.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <variant>
#include <vector>

#include "core/base/frame_rate.h"
#include "core/base/progress.h"
#include "core/media/limits.h"
#include "core/tensor/image.h"

namespace navtalk {

// A video, or pictures in order (one is a still).
using ClipSource = std::variant<std::filesystem::path, std::vector<std::filesystem::path>>;

struct ClipSize {
  int width = 0, height = 0;
};

// Of frames.mp4.
struct ClipCoding {
  FrameRate fps = 25;
  bool lossless = false;  // RGB, as the pictures are; else 4:2:0
};

// Writes the source's pictures to `file` and says their size. A video of
// that rate in H.264 that can be reached at random is copied unchanged, unless it is to be lossless; other rates are converted
// by time: a frame shows what the source shows at its middle, (t + 1/2) / fps. The same source
// gives the same bytes. Error{invalid} for damaged input, input that exceeds the limits, or pictures
// of different sizes. Stage "reading".
ClipSize make_frames(const ClipSource& source, const ClipCoding& coding,
                     const std::filesystem::path& file, const MediaLimits& limits,
                     const Progress& progress, const std::stop_token& stop);

// Several videos one behind the other, encoded as one, with key frames at most half a second apart: sessions enter
// clips anywhere. `frames` says how many each has. Error{invalid} names the video, also when their sizes differ.
struct JoinedClips {
  ClipSize size{};
  std::vector<std::int64_t> frames{};
};
JoinedClips join_frames(const std::vector<ClipSource>& sources, const ClipCoding& coding,
                        const std::filesystem::path& file, const MediaLimits& limits,
                        const Progress& progress, const std::stop_token& stop);

// Encodes `count` pictures of one size, each asked for by its number. Stage "reading".
ClipSize encode_pictures(std::int64_t count, const std::function<Image(std::int64_t)>& picture,
                         const ClipCoding& coding, const std::filesystem::path& file,
                         const Progress& progress, const std::stop_token& stop);

// SHA-256 of every file of the source, in order.
std::vector<std::string> source_checksums(const ClipSource& source);

// The pictures in a folder (PNG, JPEG, BMP, WebP by name), sorted as people count: 2.png before
// 10.png. Error{not_found} when it is not a folder, Error{invalid} when it holds no picture.
std::vector<std::filesystem::path> list_pictures(const std::filesystem::path& folder);

}  // namespace navtalk
