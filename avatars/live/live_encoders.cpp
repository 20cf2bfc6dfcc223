#include "avatars/live/live_encoders.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "core/base/device_lost.h"
#include "core/base/error.h"
#include "gpu/cuda/encoder_context.h"

namespace navtalk {
namespace {

// A size that every NVENC codes.
constexpr H264Options k_trial{.width = 640, .height = 640};

I420Picture grey() {
  I420Picture picture(k_trial.width, k_trial.height);
  std::ranges::fill(picture.bytes, std::uint8_t{128});
  return picture;
}

DeviceSource source_of(int gpu) {
  cuda::EncoderContext own = cuda::encoder_context(gpu);
  return {.gpu = gpu, .context = own.context, .stream = std::move(own.stream)};
}

}  // namespace

LiveEncoders::LiveEncoders(std::optional<H264Encoder> asked, std::optional<int> gpu, Tell tell)
    : gpu_(gpu.value_or(0)), tell_(std::move(tell)) {
  if (asked == H264Encoder::x264 || (!asked && !gpu)) return;
  const std::string missing = why_not(Way::host);
  if (!missing.empty() && asked)
    throw Error(Code::invalid, fmt::format("NVENC of GPU {} cannot be had: {}", gpu_, missing));
  if (!missing.empty()) {
    tell_(fmt::format("live video is coded by libx264, because {}", missing));
    return;
  }
  const std::string through_host =
      gpu ? why_not(Way::device) : std::string("the nets compute on the CPU");
  first_ = through_host.empty() ? Way::device : Way::host;
  tell_(through_host.empty()
            ? fmt::format("live video is coded by NVENC of GPU {}, from that GPU's memory", gpu_)
            : fmt::format("live video is coded by NVENC of GPU {}, through the host, because {}",
                          gpu_, through_host));
}

std::string LiveEncoders::why_not(Way way) const {
  try {
    open(k_trial, way)->encode(grey(), true);
    return {};
  } catch (const DeviceLost&) {
    throw;
  } catch (const Error& error) {
    return error.message();
  }
}

std::optional<int> LiveEncoders::codes_from() const {
  return first_ == Way::device ? std::optional(gpu_) : std::nullopt;
}

std::unique_ptr<H264Stream> LiveEncoders::open(H264Options options, Way way) const {
  options.gpu = gpu_;
  options.encoder = way == Way::x264 ? H264Encoder::x264 : H264Encoder::nvenc;
  if (way == Way::device) options.source = source_of(gpu_);
  return std::make_unique<H264Stream>(options);
}

std::unique_ptr<H264Stream> LiveEncoders::open(H264Options options) const {
  std::string why;  // not one of the better ways
  const auto attempt = [&](Way way) -> std::unique_ptr<H264Stream> {
    if (first_ > way) return nullptr;
    try {
      return open(options, way);
    } catch (const DeviceLost&) {
      throw;
    } catch (const Error& error) {
      if (error.code() != Code::failed) throw;
      why += (why.empty() ? "" : "; through the host: ") + error.message();
      return nullptr;
    }
  };
  const auto told = [&](std::unique_ptr<H264Stream> stream, const char* name) {
    if (!why.empty()) tell_(fmt::format("one live video is coded by {}, because {}", name, why));
    return stream;
  };
  if (auto stream = attempt(Way::device)) return stream;
  if (auto stream = attempt(Way::host)) return told(std::move(stream), "NVENC through the host");
  return told(open(options, Way::x264), "libx264");
}

std::optional<H264Encoder> parse_h264_encoder(std::string_view text) {
  if (text == "auto") return std::nullopt;
  if (text == "x264") return H264Encoder::x264;
  if (text == "nvenc") return H264Encoder::nvenc;
  throw Error(Code::usage, fmt::format("no video encoder '{}': auto, x264 or nvenc", text));
}

}  // namespace navtalk
