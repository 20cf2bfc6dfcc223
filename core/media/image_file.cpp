#include "core/media/image_file.h"

#include <string_view>

#include "core/base/error.h"
#include "core/files/whole_file.h"
#include "core/media/decode/picture/still_picture.h"
#include "core/media/encode/jpeg.h"
#include "core/media/encode/png.h"

namespace navtalk {
namespace {

using Bytes = std::vector<std::uint8_t>;

// Whether a JPEG lacks its end marker. Segments before the picture may hold a thumbnail with an end
// marker of its own, so they are stepped over: FF, marker, big-endian length that counts itself.
bool is_cut_jpeg(const Bytes& bytes) {
  if (bytes.size() < 4 || bytes[0] != 0xFF || bytes[1] != 0xD8) return false;
  constexpr std::uint8_t k_start_of_scan = 0xDA, k_end = 0xD9;
  std::size_t i = 2;
  while (i + 4 <= bytes.size() && bytes[i] == 0xFF && bytes[i + 1] != k_start_of_scan) {
    const bool filler = bytes[i + 1] == 0xFF;
    i += filler ? 1 : 2 + std::size_t{bytes[i + 2]} * 256 + bytes[i + 3];
  }
  for (; i + 1 < bytes.size(); ++i) {
    if (bytes[i] == 0xFF && bytes[i + 1] == k_end) return false;
  }
  return true;
}

// Whether a PNG ends before its IEND chunk. A chunk: big-endian length, name, data, checksum.
bool is_cut_png(const Bytes& bytes) {
  constexpr std::string_view k_signature = "\x89PNG\r\n\x1a\n";
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (!text.starts_with(k_signature)) return false;
  std::size_t i = k_signature.size();
  while (i + 12 <= bytes.size() && text.substr(i + 4, 4) != "IEND") {
    std::size_t length = 0;
    for (std::size_t k = 0; k < 4; ++k) length = length << 8 | bytes[i + k];
    i += 12 + length;
  }
  return i + 12 > bytes.size();
}

template <class Encode>
void write_encoded(const std::filesystem::path& path, const char* kind, const Encode& encode) {
  Bytes bytes;
  try {
    bytes = encode();
  } catch (const Error& error) {
    throw error.within(path.string() + " cannot be encoded as " + kind);
  }
  write_file(path, bytes);
}

}  // namespace

Image read_image(const std::filesystem::path& path, const MediaLimits& limits) {
  const Bytes bytes = read_file(path);
  // FFmpeg fills what a cut picture lacks.
  if (is_cut_jpeg(bytes) || is_cut_png(bytes))
    throw Error(Code::invalid, path.string() + " is cut off");
  return media::decode_picture(bytes, path.string(), limits);
}

void write_png(const std::filesystem::path& path, ConstImageView image) {
  write_encoded(path, "PNG", [&] { return media::encode_png(image); });
}

void write_jpeg(const std::filesystem::path& path, ConstImageView image) {
  write_encoded(path, "JPEG", [&] { return media::encode_jpeg(image); });
}

}  // namespace navtalk
