#include "core/media/decode/ogg_end.h"

#include <algorithm>
#include <fstream>
#include <numeric>
#include <string>

namespace navtalk::media {
namespace {

constexpr std::string_view k_capture = "OggS";
constexpr std::size_t k_header = 27, k_flags_at = 5, k_segments_at = 26;
constexpr std::size_t k_largest_page = k_header + 255 + 255 * 255;
constexpr unsigned char k_last_of_stream = 4;

unsigned char byte(std::string_view text, std::size_t at) {
  return static_cast<unsigned char>(text[at]);
}

// Does a page begin here that ends with the text and is its stream's last?
bool is_last_page(std::string_view text) {
  if (text.size() < k_header) return false;
  const std::size_t segments = byte(text, k_segments_at);
  if (text.size() < k_header + segments) return false;
  const std::string_view lengths = text.substr(k_header, segments);
  const std::size_t body =
      std::accumulate(lengths.begin(), lengths.end(), std::size_t{0},
                      [](std::size_t sum, char c) { return sum + static_cast<unsigned char>(c); });
  return text.size() == k_header + segments + body &&
         (byte(text, k_flags_at) & k_last_of_stream) != 0;
}

}  // namespace

bool is_cut_ogg(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string start(k_capture.size(), '\0');
  if (!file.read(start.data(), static_cast<std::streamsize>(start.size())) || start != k_capture)
    return false;
  file.seekg(0, std::ios::end);
  const std::streamoff size = file.tellg();
  std::string tail(std::min(static_cast<std::size_t>(size), k_largest_page), '\0');
  file.seekg(size - static_cast<std::streamoff>(tail.size()));
  if (!file.read(tail.data(), static_cast<std::streamsize>(tail.size()))) return false;
  // Sound may hold the four letters by chance: every place where a page may begin is tried.
  for (std::size_t at = tail.rfind(k_capture); at != std::string::npos;
       at = at == 0 ? std::string::npos : tail.rfind(k_capture, at - 1)) {
    if (is_last_page(std::string_view(tail).substr(at))) return false;
  }
  return true;
}

}  // namespace navtalk::media
