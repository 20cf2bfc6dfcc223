#include "avatars/live/live_encoders.h"

#include <fmt/format.h>

#include <utility>

#include "core/base/error.h"

namespace navtalk {
namespace {

// A size that every NVENC codes.
constexpr H264Options k_trial{.width = 640, .height = 640};

std::string why_no_nvenc(int gpu) {
  H264Options trial = k_trial;
  trial.encoder = H264Encoder::nvenc;
  trial.gpu = gpu;
  try {
    const H264Stream stream(trial);
    return {};
  } catch (const Error& error) {
    return error.message();
  }
}

}  // namespace

LiveEncoders::LiveEncoders(std::optional<H264Encoder> asked, std::optional<int> gpu, Tell tell)
    : gpu_(gpu.value_or(0)), tell_(std::move(tell)) {
  if (asked == H264Encoder::x264 || (!asked && !gpu)) return;
  const std::string missing = why_no_nvenc(gpu_);
  if (missing.empty()) {
    first_ = H264Encoder::nvenc;
    tell_(fmt::format("live video is coded by NVENC of GPU {}", gpu_));
  } else if (asked) {
    throw Error(Code::invalid, fmt::format("NVENC of GPU {} cannot be had: {}", gpu_, missing));
  } else {
    tell_(fmt::format("live video is coded by libx264, because {}", missing));
  }
}

std::unique_ptr<H264Stream> LiveEncoders::open(H264Options options) const {
  options.gpu = gpu_;
  options.encoder = first_;
  try {
    return std::make_unique<H264Stream>(options);
  } catch (const Error& error) {
    if (first_ == H264Encoder::x264 || error.code() != Code::failed) throw;
    tell_(fmt::format("one live video is coded by libx264, because {}", error.message()));
  }
  options.encoder = H264Encoder::x264;
  return std::make_unique<H264Stream>(options);
}

std::optional<H264Encoder> parse_h264_encoder(std::string_view text) {
  if (text == "auto") return std::nullopt;
  if (text == "x264") return H264Encoder::x264;
  if (text == "nvenc") return H264Encoder::nvenc;
  throw Error(Code::usage, fmt::format("no video encoder '{}': auto, x264 or nvenc", text));
}

}  // namespace navtalk
