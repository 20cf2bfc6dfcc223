#include "core/media/decode/picture/still_picture.h"

extern "C" {
#include <libavutil/imgutils.h>
#include <libavutil/pixdesc.h>
}

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>
#include <optional>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/media/decode/open_media.h"
#include "core/media/decode/picture/centred_chroma.h"
#include "core/media/decode/picture/exif_orientation.h"
#include "core/media/decode/picture/metadata.h"
#include "core/media/decode/picture/webp_codes.h"
#include "core/media/ffmpeg.h"
#include "core/media/pixels.h"

namespace navtalk::media {
namespace {

std::optional<AVCodecID> kind_of(std::string_view bytes) {
  if (bytes.starts_with("\x89PNG\r\n\x1a\n")) return AV_CODEC_ID_PNG;
  if (bytes.starts_with("\xFF\xD8\xFF")) return AV_CODEC_ID_MJPEG;
  if (bytes.starts_with("BM")) return AV_CODEC_ID_BMP;
  if (bytes.starts_with("RIFF") &&
      bytes.substr(std::min<std::size_t>(8, bytes.size())).starts_with("WEBP"))
    return AV_CODEC_ID_WEBP;
  return std::nullopt;
}

CodecPtr open_decoder(AVCodecID kind, const MediaLimits& limits) {
  const AVCodec* decoder = avcodec_find_decoder(kind);
  CodecPtr codec(avcodec_alloc_context3(decoder));
  if (!codec) throw std::bad_alloc();
  codec->thread_count = 1;
  codec->max_pixels = decoder_max_pixels(limits);
  codec->idct_algo = FF_IDCT_FAAN;  // of them all the nearest to JPEG's own library
  codec->err_recognition = AV_EF_CRCCHECK | AV_EF_EXPLODE;
  if (const int rc = avcodec_open2(codec.get(), decoder, nullptr); rc < 0)
    throw Error(Code::failed, "FFmpeg's decoder of pictures does not start: " + reason(rc));
  return codec;
}

std::string too_many_pixels(const MediaLimits& limits) {
  return fmt::format("it has more than {:.0f} megapixels (media.max_megapixels)",
                     static_cast<double>(limits.max_pixels) / 1e6);
}

std::string refusal(int rc, const MediaLimits& limits) {
  const std::string why = reason(rc);
  const bool large = why.find("exceeds specified max pixel count") != std::string::npos;
  return large ? too_many_pixels(limits) : why;
}

void check_codes(const AVPacket& webp) {
  const int groups = webp_code_groups({webp.data, static_cast<std::size_t>(webp.size)});
  if (groups > k_most_code_groups)
    throw Error(Code::invalid, fmt::format("it has {} groups of codes: at most {} are possible",
                                           groups, k_most_code_groups));
}

// Error{invalid} with FFmpeg's reason.
FramePtr decode(AVCodecID kind, std::span<const std::uint8_t> bytes, const MediaLimits& limits) {
  bound_blocks(limits);
  const CodecPtr codec = open_decoder(kind, limits);
  const PacketPtr packet = make_packet();
  if (bytes.size() > std::numeric_limits<int>::max() / 2)
    throw Error(Code::invalid, "it is too large");
  if (av_new_packet(packet.get(), static_cast<int>(bytes.size())) < 0) throw std::bad_alloc();
  std::copy(bytes.begin(), bytes.end(), packet->data);
  drop_metadata(kind, *packet);
  if (kind == AV_CODEC_ID_WEBP) check_codes(*packet);
  packet->flags = AV_PKT_FLAG_KEY;
  FramePtr frame = make_frame();
  int rc = avcodec_send_packet(codec.get(), packet.get());
  if (rc >= 0) rc = avcodec_send_packet(codec.get(), nullptr);
  if (rc >= 0) rc = avcodec_receive_frame(codec.get(), frame.get());
  throw_if_no_memory(rc, "a picture");
  if (rc < 0) throw Error(Code::invalid, refusal(rc, limits));
  if ((frame->flags & AV_FRAME_FLAG_CORRUPT) != 0 || frame->decode_error_flags != 0)
    throw Error(Code::invalid, "its data are broken");
  if (std::int64_t{frame->width} * frame->height > limits.max_pixels)
    throw Error(Code::invalid, too_many_pixels(limits));
  return frame;
}

// A component's value in 8 bits: the upper ones of many, the only ones of few.
std::uint8_t to_byte(std::uint16_t value, int depth) {
  if (depth == 1) return value == 0 ? 0 : 255;
  return static_cast<std::uint8_t>(depth >= 8 ? value >> (depth - 8) : value << (8 - depth));
}

// Red, green and blue, or grey, of any depth: no arithmetic but the depth's.
void copy_components(const AVFrame& frame, const AVPixFmtDescriptor& layout, ImageView bgr) {
  const bool grey = layout.nb_components < 3;
  std::vector<std::uint16_t> line(static_cast<std::size_t>(frame.width));
  const std::uint8_t* planes[4] = {frame.data[0], frame.data[1], frame.data[2], frame.data[3]};
  for (int y = 0; y < frame.height; ++y) {
    for (int channel = 0; channel < 3; ++channel) {
      const int component = grey ? 0 : 2 - channel;  // FFmpeg counts red, green, blue
      av_read_image_line(line.data(), planes, frame.linesize, &layout, 0, y, component, frame.width,
                         0);
      std::uint8_t* out = bgr.row(y) + channel;
      for (const std::uint16_t value : line) {
        *out = to_byte(value, layout.comp[component].depth);
        out += 3;
      }
    }
  }
}

void look_colours_up(const AVFrame& frame, ImageView bgr) {
  for (int y = 0; y < frame.height; ++y) {
    const std::uint8_t* in = frame.data[0] + std::ptrdiff_t{y} * frame.linesize[0];
    std::uint8_t* out = bgr.row(y);
    for (int x = 0; x < frame.width; ++x, out += 3) {
      std::uint32_t argb = 0;
      std::memcpy(&argb, frame.data[1] + std::ptrdiff_t{in[x]} * 4, sizeof argb);
      for (int channel = 0; channel < 3; ++channel)
        out[channel] = static_cast<std::uint8_t>(argb >> (8 * channel));
    }
  }
}

void to_bgr(const AVFrame& frame, ImageView bgr) {
  const AVPixFmtDescriptor& layout = *av_pix_fmt_desc_get(static_cast<AVPixelFormat>(frame.format));
  if ((layout.flags & AV_PIX_FMT_FLAG_PAL) != 0) {
    look_colours_up(frame, bgr);
  } else if ((layout.flags & AV_PIX_FMT_FLAG_RGB) != 0 || layout.nb_components < 3) {
    copy_components(frame, layout, bgr);
  } else if (has_centred_chroma(frame)) {
    centred_chroma_to_bgr(frame, bgr);
  } else {
    FrameToBgr().convert(frame, bgr);
  }
}

Orientation file_orientation(AVCodecID kind, std::span<const std::uint8_t> bytes) {
  if (kind == AV_CODEC_ID_PNG) return png_orientation(bytes);
  return kind == AV_CODEC_ID_MJPEG ? jpeg_orientation(bytes) : Orientation{};
}

}  // namespace

Image decode_picture(std::span<const std::uint8_t> bytes, const std::string& name,
                     const MediaLimits& limits) {
  capture_log();
  const auto kind = kind_of({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  if (!kind)
    throw Error(Code::invalid,
                name + " is not a picture that can be read (PNG, JPEG, BMP or WebP)");
  try {
    FramePtr frame = decode(*kind, bytes, limits);
    Image image(frame->width, frame->height);
    to_bgr(*frame, image.view());
    frame.reset();  // before a turned copy is made
    const Orientation turned = file_orientation(*kind, bytes);
    return turned == Orientation{} ? image : upright(image, turned);
  } catch (const Error& error) {
    throw Error(error.code(), name + " cannot be read as a picture: " + error.message());
  }
}

}  // namespace navtalk::media
