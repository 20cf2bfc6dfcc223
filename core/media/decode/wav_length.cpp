#include "core/media/decode/wav_length.h"

#include <array>
#include <fstream>
#include <string_view>

namespace navtalk::media {
namespace {

struct Chunk {
  std::array<char, 4> id{};
  std::array<unsigned char, 4> size{};

  std::string_view name() const { return {id.data(), id.size()}; }
  std::int64_t bytes() const {
    return size[0] | size[1] << 8 | size[2] << 16 | std::int64_t{size[3]} << 24;
  }
};

bool read(std::istream& file, Chunk& chunk) {
  file.read(chunk.id.data(), 4);
  file.read(reinterpret_cast<char*>(chunk.size.data()), 4);
  return file.good();
}

// Writers of streams set all bits, or all but the sign's, less a header or a block.
bool is_of_stream(std::int64_t bytes) {
  constexpr std::int64_t k_less = 1 << 16;
  return bytes == 0 || bytes > UINT32_MAX - k_less ||
         (bytes > INT32_MAX - k_less && bytes <= INT32_MAX + k_less);
}

}  // namespace

std::optional<WavBytes> wav_bytes(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  Chunk chunk;
  std::array<char, 4> form{};
  if (!read(file, chunk) || chunk.name() != "RIFF") return std::nullopt;
  file.read(form.data(), form.size());
  if (std::string_view(form.data(), form.size()) != "WAVE") return std::nullopt;
  while (read(file, chunk)) {
    if (chunk.name() == "data") {
      if (is_of_stream(chunk.bytes())) return std::nullopt;
      const std::int64_t begin = file.tellg();
      file.seekg(0, std::ios::end);
      return WavBytes{.announced = chunk.bytes(), .present = file.tellg() - begin};
    }
    file.seekg(chunk.bytes() + chunk.bytes() % 2, std::ios::cur);  // chunks begin at even places
  }
  return std::nullopt;
}

}  // namespace navtalk::media
