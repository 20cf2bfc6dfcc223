// Any frame of an H.264 MP4 file by its number, forwards, backwards or at random, always the same
// pixels. Only the index of the compressed pictures and a bounded number of decoded ones are kept.
//
//   packets (decoding order)   K . . . . . . . K . . . .   K: decoding can start here
//   frame i wanted             ^-------------> i           decode from the K before it
//                                    [=======]             the last pictures up to i stay in the
//                                                          cache, so going back is cheap as well
//
// Opening reads the whole file once (sizes and times, not pixels). One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>

#include "core/base/frame_rate.h"
#include "core/media/limits.h"
#include "core/tensor/image.h"

namespace navtalk {

class IndexedVideo {
 public:
  struct Options {
    std::size_t cache_bytes = std::size_t{192} << 20;  // of decoded pictures, at least two are kept
    int threads = 2;                                   // of the decoder
    MediaLimits limits = {};
  };

  // Error{not_found} for a missing file; Error{invalid} when it is not MP4 with one H.264 stream in
  // 4:2:0 or RGB, or damaged, or truncated, or beyond the limits.
  static IndexedVideo open(const std::filesystem::path& path, const Options& options);
  static IndexedVideo open(const std::filesystem::path& path) { return open(path, Options()); }
  IndexedVideo(IndexedVideo&&) noexcept;
  IndexedVideo& operator=(IndexedVideo&&) noexcept;
  ~IndexedVideo();

  int width() const;
  int height() const;
  std::int64_t frame_count() const;
  std::optional<FrameRate> rate() const;  // nullopt when the container does not say

  // Whether all decoded pictures fit into the cache, so that none is decoded twice.
  bool keeps_all() const;
  // Frame `index` in presentation order as BGR; Error{invalid} when it cannot be decoded.
  Image frame(std::int64_t index);
  // Decodes every frame without converting any; Error{invalid} names the first damaged one.
  void check_all();

 private:
  struct Impl;
  explicit IndexedVideo(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace navtalk
