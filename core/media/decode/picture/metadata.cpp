#include "core/media/decode/picture/metadata.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <string_view>

namespace navtalk::media {
namespace {

using Picture = std::span<std::uint8_t>;

std::string_view text_at(Picture bytes, std::size_t at, std::size_t size) {
  return {reinterpret_cast<const char*>(bytes.data()) + at, size};
}

bool begins_with(Picture bytes, std::string_view what) {
  return bytes.size() >= what.size() && text_at(bytes, 0, what.size()) == what;
}

std::size_t big_endian_at(Picture bytes, std::size_t at) {
  return std::size_t{bytes[at]} << 24 | std::size_t{bytes[at + 1]} << 16 |
         std::size_t{bytes[at + 2]} << 8 | bytes[at + 3];
}

std::size_t little_endian_at(Picture bytes, std::size_t at) {
  return std::size_t{bytes[at + 3]} << 24 | std::size_t{bytes[at + 2]} << 16 |
         std::size_t{bytes[at + 1]} << 8 | bytes[at];
}

template <std::size_t N>
bool is_one_of(const std::string_view (&names)[N], std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

// A chunk: its length without what frames it, its name, its data, a checksum. The rest of a file that
// ends within a chunk counts as its data.
std::size_t keep_png_chunks(Picture png) {
  constexpr std::string_view k_png_signature = "\x89PNG\r\n\x1a\n";
  constexpr std::string_view k_kept[] = {"IHDR", "PLTE", "tRNS", "IDAT",
                                         "IEND", "acTL", "fcTL", "fdAT"};
  constexpr std::size_t k_name_end = 8, k_frame = 12;
  std::size_t from = begins_with(png, k_png_signature) ? k_png_signature.size() : 0, to = from;
  while (png.size() - from >= k_name_end) {
    const std::size_t size = std::min(png.size() - from, big_endian_at(png, from) + k_frame);
    if (is_one_of(k_kept, text_at(png, from + 4, 4))) {
      std::memmove(png.data() + to, png.data() + from, size);
      to += size;
    }
    from += size;
  }
  return to;
}

// Alpha is dropped anyway, and is as hard to bound as a picture without loss.
// "RIFF", the length of what follows, "WEBP"; then chunks: name, length, data, a byte where that is odd.
std::size_t keep_webp_chunks(Picture webp) {
  constexpr std::string_view k_kept[] = {"VP8 ", "VP8L", "VP8X"};
  constexpr std::size_t k_header = 12, k_name_and_length = 8;
  if (webp.size() < k_header) return webp.size();
  std::size_t from = k_header, to = from;
  while (webp.size() - from >= k_name_and_length) {
    const std::size_t length = little_endian_at(webp, from + 4);
    const std::size_t size = std::min(webp.size() - from, k_name_and_length + length + length % 2);
    if (is_one_of(k_kept, text_at(webp, from, 4))) {
      std::memmove(webp.data() + to, webp.data() + from, size);
      to += size;
    }
    from += size;
  }
  const std::size_t dropped = webp.size() - to, all = little_endian_at(webp, 4);
  const std::size_t left = all >= dropped ? all - dropped : 0;
  for (std::size_t i = 0; i < 4; ++i) webp[4 + i] = static_cast<std::uint8_t>(left >> (8 * i));
  return to;
}

// A segment: FF, marker, length, name. Wherever FFmpeg may look for one, the marker of such a name
// becomes that of a segment without meaning. Coded pixels hold no such marker.
void disguise_jpeg_segments(Picture jpeg) {
  constexpr std::uint8_t k_exif = 0xE1, k_profile = 0xE2, k_without_meaning = 0xEF;
  constexpr std::size_t k_name = 4, k_name_size = 4;
  for (std::size_t i = 0; i + k_name + k_name_size <= jpeg.size(); ++i) {
    if (jpeg[i] != 0xFF) continue;
    const std::string_view name = text_at(jpeg, i + k_name, k_name_size);
    if ((jpeg[i + 1] == k_exif && name == "Exif") || (jpeg[i + 1] == k_profile && name == "ICC_"))
      jpeg[i + 1] = k_without_meaning;
  }
}

}  // namespace

bool has_metadata(AVCodecID kind) {
  return kind == AV_CODEC_ID_PNG || kind == AV_CODEC_ID_APNG || kind == AV_CODEC_ID_MJPEG ||
         kind == AV_CODEC_ID_WEBP;
}

std::size_t drop_metadata(AVCodecID kind, Picture picture) {
  switch (kind) {
    case AV_CODEC_ID_PNG:
    case AV_CODEC_ID_APNG:
      return keep_png_chunks(picture);
    case AV_CODEC_ID_WEBP:
      return keep_webp_chunks(picture);
    case AV_CODEC_ID_MJPEG:
      disguise_jpeg_segments(picture);
      return picture.size();
    default:
      return picture.size();
  }
}

void drop_metadata(AVCodecID kind, AVPacket& packet) {
  if (!has_metadata(kind) || packet.size <= 0) return;
  if (av_packet_make_writable(&packet) < 0) throw std::bad_alloc();
  const std::size_t size =
      drop_metadata(kind, Picture(packet.data, static_cast<std::size_t>(packet.size)));
  av_shrink_packet(&packet, static_cast<int>(size));
}

void drop_metadata(AVCodecParameters& codec) {
  if (!has_metadata(codec.codec_id) || codec.extradata_size <= 0) return;
  const auto before = static_cast<std::size_t>(codec.extradata_size);
  const std::size_t size = drop_metadata(codec.codec_id, Picture(codec.extradata, before));
  std::memset(codec.extradata + size, 0, before - size);
  codec.extradata_size = static_cast<int>(size);
}

}  // namespace navtalk::media
