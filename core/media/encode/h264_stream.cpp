#include "core/media/encode/h264_stream.h"

extern "C" {
#include <libavutil/imgutils.h>
}

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <new>
#include <span>

#include "core/base/error.h"
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

media::CodecPtr open_encoder(const H264Options& options) {
  const std::int64_t bit_per_s = std::int64_t{options.kbit_per_s} * 1000;
  const int key_interval = static_cast<int>(options.fps.hz() * k_key_interval_s);
  if (options.encoder == H264Encoder::nvenc)
    return media::open_nvenc({.width = options.width,
                              .height = options.height,
                              .fps = options.fps,
                              .bit_per_s = bit_per_s,
                              .key_interval = key_interval,
                              .gpu = options.gpu});
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
  media::CodecPtr encoder;
  media::FramePtr frame = media::make_frame();
  media::PacketPtr packet = media::make_packet();
  std::vector<std::uint8_t> headers{};
  std::string codec{};
  std::int64_t frames = 0;

  explicit Impl(const H264Options& given)
      : options((check_options(given), given)), encoder(open_encoder(given)) {
    frame->format = encoder->pix_fmt;
    frame->width = encoder->width;
    frame->height = encoder->height;
    if (av_frame_get_buffer(frame.get(), 0) < 0) throw std::bad_alloc();
    headers.assign(encoder->extradata, encoder->extradata + encoder->extradata_size);
    codec = codec_of(headers);
  }
};

H264Stream::H264Stream(const H264Options& options) : impl_(std::make_unique<Impl>(options)) {}
H264Stream::~H264Stream() = default;

const std::string& H264Stream::codec() const { return impl_->codec; }

AccessUnit H264Stream::encode(const I420Picture& picture, bool key) {
  Impl& own = *impl_;
  if (picture.width != own.options.width || picture.height != own.options.height) {
    throw Error(Code::invalid,
                fmt::format("a picture of {}x{} does not fit a live video of {}x{}", picture.width,
                            picture.height, own.options.width, own.options.height));
  }
  if (av_frame_make_writable(own.frame.get()) < 0) throw std::bad_alloc();
  const std::uint8_t* planes[4] = {picture.y(), picture.u(), picture.v()};
  const int strides[4] = {picture.width, picture.width / 2, picture.width / 2};
  av_image_copy(own.frame->data, own.frame->linesize, planes, strides, AV_PIX_FMT_YUV420P,
                picture.width, picture.height);
  own.frame->pts = own.frames++;
  own.frame->pict_type = key ? AV_PICTURE_TYPE_I : AV_PICTURE_TYPE_NONE;
  media::send(*own.encoder, own.frame.get());
  const int rc = avcodec_receive_packet(own.encoder.get(), own.packet.get());
  if (rc < 0) throw Error(Code::failed, "the encoder gave no picture: " + media::reason(rc));
  AccessUnit unit{.key = (own.packet->flags & AV_PKT_FLAG_KEY) != 0};
  if (unit.key) unit.bytes = own.headers;
  unit.bytes.insert(unit.bytes.end(), own.packet->data, own.packet->data + own.packet->size);
  av_packet_unref(own.packet.get());
  return unit;
}

}  // namespace navtalk
