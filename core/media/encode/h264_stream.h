// Live H.264: one picture in, one access unit out at once (libx264 or NVENC, zero latency), for a stream that
// never ends. Each key frame carries its parameter sets. One thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/frame_rate.h"
#include "core/tensor/video_picture.h"

namespace navtalk {

enum class H264Encoder { x264, nvenc };

// Where a GPU's pictures lie, for an encoder that takes them from there.
struct DeviceSource {
  int gpu = 0;                     // as CUDA counts the devices that this process sees
  void* context = nullptr;         // a CUcontext, which stays as long as the encoder
  std::shared_ptr<void> stream{};  // a CUstream in which nobody else works
};

struct H264Options {
  int width = 0, height = 0;  // pixels, even
  FrameRate fps = 25;
  int kbit_per_s = 2500;  // at most, averaged over half a second
  H264Encoder encoder = H264Encoder::x264;
  int gpu = 0;  // NVENC's, as CUDA counts the devices that this process sees
  // NVENC's, of `gpu`: it takes pictures from there without the host, and others are uploaded. nullopt: all come from the host.
  std::optional<DeviceSource> source{};
};

struct AccessUnit {
  std::vector<std::uint8_t> bytes;  // Annex B
  bool key = false;
};

class H264Stream {
 public:
  // Error{invalid} for a size that H.264 has not; Error{failed} says why NVENC, or NVENC with `source`, cannot be had.
  explicit H264Stream(const H264Options& options);
  ~H264Stream();
  H264Stream(const H264Stream&) = delete;
  H264Stream& operator=(const H264Stream&) = delete;

  // As RFC 6381 names the codec, for example "avc1.42C01F".
  const std::string& codec() const;
  // The GPU whose pictures are coded without being copied to the host; nullopt: those of every GPU are copied.
  std::optional<int> codes_from() const;
  // A picture of the options' size. The first one is a key frame, and each with `key`; between them ten
  // seconds of pictures at most.
  AccessUnit encode(const VideoPicture& picture, bool key);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace navtalk
