#include "core/media/encode/h264_stream.h"

extern "C" {
#include <libavutil/imgutils.h>
}

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <new>
#include <span>
#include <variant>

#include "core/base/check.h"
#include "core/base/error.h"
#include "core/media/encode/cuda_frames.h"
#include "core/media/encode/muxer.h"
#include "core/media/encode/nvenc_encoder.h"
#include "core/media/encode/x264_encoder.h"

namespace navtalk {
namespace {

constexpr int k_largest_live_side = 4096;
constexpr int k_key_interval_s = 10;
constexpr int k_parameter_set = 7;  // NAL unit type of a sequence parameter set

void check_options(const H264Options& options) {
  const auto fits = [](int side) {
    return side >= 16 && side <= k_largest_live_side && side % 2 == 0;
  };
  if (!fits(options.width) || !fits(options.height) || options.kbit_per_s <= 0) {
    throw Error(
        Code::invalid,
        fmt::format("a live video of {}x{} pixels at {} kbit/s cannot be made: sides are "
                    "even, from 16 to {}",
                    options.width, options.height, options.kbit_per_s, k_largest_live_side));
  }
}

// `frames`: nullopt where pictures come from the host.
media::CodecPtr open_encoder(const H264Options& options,
                             const std::optional<media::CudaFrames>& frames) {
  const std::int64_t bit_per_s = std::int64_t{options.kbit_per_s} * 1000;
  const int key_interval = static_cast<int>(options.fps.hz() * k_key_interval_s);
  if (options.encoder == H264Encoder::nvenc)
    return media::open_nvenc({.width = options.width,
                              .height = options.height,
                              .fps = options.fps,
                              .bit_per_s = bit_per_s,
                              .key_interval = key_interval,
                              .gpu = options.gpu,
                              .frames = frames ? frames->context() : nullptr});
  return media::open_x264({.width = options.width,
                           .height = options.height,
                           .fps = options.fps,
                           .threads = 1,  // sessions run side by side
                           .crf = 23,
                           .bit_per_s = bit_per_s,
                           .chroma = AVCHROMA_LOC_CENTER,
                           .key_interval = key_interval,
                           .more = {{"preset", "superfast"},
                                    {"tune", "zerolatency"},
                                    {"profile", "baseline"},
                                    {"forced-idr", "1"}}});
}

// The three bytes behind the NAL header of the sequence parameter set: profile, constraints, level.
std::string codec_of(std::span<const std::uint8_t> headers) {
  for (std::size_t i = 0; i + 6 < headers.size(); ++i) {
    const bool start = headers[i] == 0 && headers[i + 1] == 0 && headers[i + 2] == 1;
    if (start && (headers[i + 3] & 0x1F) == k_parameter_set) {
      return fmt::format("avc1.{:02X}{:02X}{:02X}", headers[i + 4], headers[i + 5], headers[i + 6]);
    }
  }
  throw Error(Code::failed, "the encoder gave no parameter sets");
}

}  // namespace

struct H264Stream::Impl {
  H264Options options;
  std::optional<media::CudaFrames> frames{};  // NVENC's, where it takes the GPU's pictures
  media::CodecPtr encoder{};
  media::FramePtr host_frame = media::make_frame();  // used again for each picture
  media::PacketPtr packet = media::make_packet();
  std::vector<std::uint8_t> headers{};
  std::string codec{};
  std::int64_t sent = 0;

  explicit Impl(const H264Options& given) : options((check_options(given), given)) {
    if (options.source) {
      NAVTALK_CHECK(options.encoder == H264Encoder::nvenc && options.source->gpu == options.gpu);
      frames.emplace(*options.source, options.width, options.height);
    }
    encoder = open_encoder(options, frames);
    if (!frames) {
      host_frame->format = encoder->pix_fmt;
      host_frame->width = encoder->width;
      host_frame->height = encoder->height;
      if (av_frame_get_buffer(host_frame.get(), 0) < 0) throw std::bad_alloc();
    }
    headers.assign(encoder->extradata, encoder->extradata + encoder->extradata_size);
    codec = codec_of(headers);
  }

  AVFrame& fill_host_frame(const I420Picture& picture);
  AccessUnit code(AVFrame& frame, bool key);
};

AVFrame& H264Stream::Impl::fill_host_frame(const I420Picture& picture) {
  if (av_frame_make_writable(host_frame.get()) < 0) throw std::bad_alloc();
  const std::uint8_t* planes[4] = {picture.y(), picture.u(), picture.v()};
  const int strides[4] = {picture.width, picture.width / 2, picture.width / 2};
  av_image_copy(host_frame->data, host_frame->linesize, planes, strides, AV_PIX_FMT_YUV420P,
                picture.width, picture.height);
  return *host_frame;
}

AccessUnit H264Stream::Impl::code(AVFrame& frame, bool key) {
  frame.pts = sent++;
  frame.pict_type = key ? AV_PICTURE_TYPE_I : AV_PICTURE_TYPE_NONE;
  media::send(*encoder, &frame);
  const int rc = avcodec_receive_packet(encoder.get(), packet.get());
  if (rc < 0) throw Error(Code::failed, "the encoder gave no picture: " + media::reason(rc));
  AccessUnit unit{.key = (packet->flags & AV_PKT_FLAG_KEY) != 0};
  if (unit.key) unit.bytes = headers;
  unit.bytes.insert(unit.bytes.end(), packet->data, packet->data + packet->size);
  av_packet_unref(packet.get());
  return unit;
}

H264Stream::H264Stream(const H264Options& options) : impl_(std::make_unique<Impl>(options)) {}
H264Stream::~H264Stream() = default;

const std::string& H264Stream::codec() const { return impl_->codec; }

std::optional<int> H264Stream::codes_from() const {
  return impl_->frames ? std::optional(impl_->frames->gpu()) : std::nullopt;
}

AccessUnit H264Stream::encode(const VideoPicture& picture, bool key) {
  Impl& own = *impl_;
  std::visit(
      [&](const auto& given) {
        if (given.width == own.options.width && given.height == own.options.height) return;
        throw Error(Code::invalid,
                    fmt::format("a picture of {}x{} does not fit a live video of {}x{}",
                                given.width, given.height, own.options.width, own.options.height));
      },
      picture);
  const auto* device = std::get_if<DevicePicture>(&picture);
  if (device != nullptr && codes_from() == device->gpu)
    return own.code(*own.frames->copy_of(*device), key);
  const auto code_from_host = [&](const I420Picture& host) {
    return own.frames ? own.code(*own.frames->copy_of(host), key)
                      : own.code(own.fill_host_frame(host), key);
  };
  return device != nullptr ? code_from_host(device->copy())
                           : code_from_host(std::get<I420Picture>(picture));
}

}  // namespace navtalk
