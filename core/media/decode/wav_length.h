// What a WAV file says about its length. FFmpeg forgets it when the file is shorter. Private to
// core/media.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace navtalk::media {

// Bytes of sound that the header announces; nullopt when the file is not a WAV, or was written by a
// program that could not know (into a pipe: the largest number, or one near half of it).
std::optional<std::int64_t> announced_wav_bytes(const std::filesystem::path& path);

}  // namespace navtalk::media
