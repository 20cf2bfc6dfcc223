// What a WAV file says about its length. FFmpeg forgets it when the file is shorter. Private to
// core/media.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace navtalk::media {

// Bytes of sound.
struct WavBytes {
  std::int64_t announced = 0;  // by the header
  std::int64_t present = 0;    // behind it, with what else stands there
};

// nullopt when the file is not a WAV, or was written by a
// program that could not know (into a pipe: 0, or a number of nearly 2 or 4 GiB).
std::optional<WavBytes> wav_bytes(const std::filesystem::path& path);

}  // namespace navtalk::media
