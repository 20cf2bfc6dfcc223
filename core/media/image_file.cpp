#include "core/media/image_file.h"

#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>
#include <string_view>

#include "core/base/error.h"
#include "core/files/whole_file.h"

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

}  // namespace

Image read_image(const std::filesystem::path& path) {
  const Bytes bytes = read_file(path);
  // OpenCV fills what a cut JPEG lacks with grey and says nothing, and libpng prints.
  if (is_cut_jpeg(bytes) || is_cut_png(bytes))
    throw Error(Code::invalid, path.string() + " is cut off");
  cv::Mat decoded;
  try {
    decoded = cv::imdecode(bytes, cv::IMREAD_COLOR);
  } catch (const cv::Exception& error) {
    throw Error(Code::invalid, path.string() + " cannot be read: " + error.err);
  }
  if (decoded.empty())
    throw Error(Code::invalid,
                path.string() +
                    " is not a picture that can be read (PNG, JPEG, BMP or WebP), or "
                    "it is damaged");
  Image image(decoded.cols, decoded.rows);
  cv::Mat target(image.height, image.width, CV_8UC3, image.pixels.data());
  decoded.copyTo(target);
  return image;
}

void write_png(const std::filesystem::path& path, ConstImageView image) {
  // OpenCV only reads from this Mat.
  const cv::Mat view(image.height, image.width, CV_8UC(image.channels),
                     const_cast<std::uint8_t*>(image.data), static_cast<std::size_t>(image.stride));
  Bytes bytes;
  try {
    // The fastest setting: photographs gain little from more.
    if (!cv::imencode(".png", view, bytes, {cv::IMWRITE_PNG_COMPRESSION, 1}))
      throw Error(Code::failed, path.string() + " cannot be encoded as PNG");
  } catch (const cv::Exception& error) {
    throw Error(Code::failed, path.string() + " cannot be encoded as PNG: " + error.err);
  }
  write_file(path, bytes);
}

}  // namespace navtalk
