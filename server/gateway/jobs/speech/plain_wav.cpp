#include "server/gateway/jobs/speech/plain_wav.h"

#include <cstdint>

namespace navtalk::server {
namespace {

constexpr std::size_t k_head = 8, k_most_chunks = 16, k_format_bytes = 16;

// Little-endian, of `bytes` that are there.
std::uint32_t little_endian(std::string_view bytes, std::size_t at, std::size_t size) {
  std::uint32_t number = 0;
  for (std::size_t i = size; i-- > 0;)
    number = number << 8 | static_cast<unsigned char>(bytes[at + i]);
  return number;
}

struct Format {
  std::uint32_t rate_hz = 0, block = 0;  // bytes of one sample of all channels
};

// nullopt: not what speech usually has.
std::optional<Format> format_of(std::string_view chunk) {
  constexpr std::uint32_t k_pcm = 1;
  if (chunk.size() < k_format_bytes || little_endian(chunk, 0, 2) != k_pcm) return std::nullopt;
  const std::uint32_t channels = little_endian(chunk, 2, 2), rate_hz = little_endian(chunk, 4, 4),
                      block = little_endian(chunk, 12, 2), bits = little_endian(chunk, 14, 2);
  const bool usual = channels >= 1 && channels <= 8 && rate_hz >= 4'000 && rate_hz <= 192'000 &&
                     (bits == 8 || bits == 16 || bits == 24 || bits == 32);
  if (!usual || block != channels * bits / 8 || little_endian(chunk, 8, 4) != rate_hz * block)
    return std::nullopt;
  return Format{rate_hz, block};
}

// Writers of streams, which do not know how much is to come, set all bits, or all but the sign's, less a header or a block.
bool is_of_stream(std::uint32_t size) {
  constexpr std::uint32_t k_less = 1 << 16;
  return size == 0 || size > UINT32_MAX - k_less ||
         (size > INT32_MAX - k_less && size <= INT32_MAX + k_less);
}

}  // namespace

std::optional<CutWav> cut_wav(std::string_view file) {
  constexpr double k_least_lack_s = 0.1;
  if (file.size() < 12 || !file.starts_with("RIFF") || file.substr(8, 4) != "WAVE")
    return std::nullopt;
  file.remove_prefix(12);
  std::uint32_t bytes_per_s = 0;
  for (std::size_t chunks = 0; chunks < k_most_chunks && file.size() >= k_head; ++chunks) {
    const std::string_view name = file.substr(0, 4);
    const std::size_t size = little_endian(file, 4, 4), padded = size + size % 2;
    file.remove_prefix(k_head);
    if (name == "data") {
      if (bytes_per_s == 0 || size <= file.size() || is_of_stream(static_cast<std::uint32_t>(size)))
        return std::nullopt;
      const CutWav cut{.expected_s = static_cast<double>(size) / bytes_per_s,
                       .actual_s = static_cast<double>(file.size()) / bytes_per_s};
      return cut.expected_s - cut.actual_s > k_least_lack_s ? std::optional(cut) : std::nullopt;
    }
    if (padded > file.size()) return std::nullopt;
    if (name == "fmt " && size >= k_format_bytes) bytes_per_s = little_endian(file, 8, 4);
    file.remove_prefix(padded);
  }
  return std::nullopt;
}

std::optional<double> plain_wav_seconds(std::string_view file) {
  if (file.size() < 12 || !file.starts_with("RIFF") || file.substr(8, 4) != "WAVE")
    return std::nullopt;
  file.remove_prefix(12);
  std::optional<Format> format;
  for (std::size_t chunks = 0; chunks < k_most_chunks && file.size() >= k_head; ++chunks) {
    const std::string_view name = file.substr(0, 4);
    const std::size_t size = little_endian(file, 4, 4), padded = size + size % 2;
    file.remove_prefix(k_head);
    if (name == "data") {
      // Behind it might be another one.
      const bool whole = size > 0 && (file.size() == size || file.size() == padded);
      if (!whole || !format || size % format->block != 0) return std::nullopt;
      return static_cast<double>(size / format->block) / format->rate_hz;
    }
    if (padded > file.size()) return std::nullopt;
    if (name == "fmt ") {
      if (format) return std::nullopt;
      format = format_of(file.substr(0, size));
      if (!format) return std::nullopt;
    }
    file.remove_prefix(padded);
  }
  return std::nullopt;
}

}  // namespace navtalk::server
