// How much of a recording has been decoded, frame by frame, and that it stays within the limits. Private to core/media.
#pragma once

#include <cstdint>
#include <filesystem>

#include "core/media/ffmpeg.h"
#include "core/media/limits.h"

namespace navtalk::media {

class SoundCount {
 public:
  // Both outlive it.
  SoundCount(const std::filesystem::path& path, const MediaLimits& limits)
      : path_(path), limits_(limits) {}

  // Call it before the frame's samples take any room. Error{invalid} when the sample rate changes; BeyondLimit for more
  // than speech has: check_sound(), check_duration(), 2^32 samples over all channels.
  void add(const AVFrame& frame);
  // BeyondLimit for so many samples over all channels.
  void check_values(std::int64_t values) const;
  // At the end. Error{invalid} when nothing was decoded.
  void finish() const;

  int rate_hz() const { return rate_hz_; }
  double seconds() const { return rate_hz_ == 0 ? 0.0 : static_cast<double>(taken_) / rate_hz_; }

 private:
  const std::filesystem::path& path_;
  const MediaLimits& limits_;
  int rate_hz_ = 0;
  std::int64_t taken_ = 0, values_ = 0;  // samples of one channel; over all channels
};

}  // namespace navtalk::media
