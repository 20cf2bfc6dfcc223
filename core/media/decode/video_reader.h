// Video in: frames of the best video stream as BGR images, in presentation order. One thread owns
// a reader.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <stop_token>

#include "core/base/frame_rate.h"
#include "core/media/limits.h"
#include "core/tensor/image.h"

namespace navtalk {

struct VideoInfo {
  int width = 0, height = 0;      // as shown, after rotation metadata
  std::optional<FrameRate> rate;  // the average; nullopt when the container does not say
  double duration_s = 0;          // 0 when the container does not say
};

struct VideoFrame {
  Image image;        // BGR
  double time_s = 0;  // presentation time, the first frame's being 0
};

class VideoReader {
 public:
  // Error{not_found} for a missing file, Error{invalid} when no video stream can be decoded or
  // it exceeds the limits.
  static VideoReader open(const std::filesystem::path& path, const std::stop_token& stop = {},
                          const MediaLimits& limits = {});
  VideoReader(VideoReader&&) noexcept;
  VideoReader& operator=(VideoReader&&) noexcept;
  ~VideoReader();

  const VideoInfo& info() const;
  // The next frame, nullopt at the end; Error{invalid} when the stream is damaged or ends early
  // (fewer frames than the container's index promises).
  std::optional<VideoFrame> next();

 private:
  struct Impl;
  explicit VideoReader(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace navtalk
