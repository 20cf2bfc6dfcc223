// WAV files written by hand, so that what a test reads is not what FFmpeg wrote.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <numbers>
#include <string>
#include <vector>

#include "tests/core/files/scratch_folder.h"

namespace navtalk::test {

struct WavFormat {
  int rate_hz = 16000;
  int channels = 1;
  int bits = 16;
  bool real = false;  // IEEE float
};

// `data`: the samples' own bytes, little-endian, interleaved.
inline std::string wav_bytes(const WavFormat& format, const std::string& data) {
  std::string bytes;
  const auto number = [&bytes](std::uint32_t value, int size) {
    for (int i = 0; i < size; ++i) bytes += static_cast<char>(value >> (8 * i) & 0xFF);
  };
  const auto block = static_cast<std::uint32_t>(format.channels * format.bits / 8);
  bytes += "RIFF";
  number(static_cast<std::uint32_t>(36 + data.size()), 4);
  bytes += "WAVEfmt ";
  number(16, 4);
  number(format.real ? 3 : 1, 2);
  number(static_cast<std::uint32_t>(format.channels), 2);
  number(static_cast<std::uint32_t>(format.rate_hz), 4);
  number(static_cast<std::uint32_t>(format.rate_hz) * block, 4);
  number(block, 2);
  number(static_cast<std::uint32_t>(format.bits), 2);
  bytes += "data";
  number(static_cast<std::uint32_t>(data.size()), 4);
  return bytes + data;
}

template <class Sample>
std::string sample_bytes(const std::vector<Sample>& samples) {
  std::string bytes(samples.size() * sizeof(Sample), '\0');
  std::memcpy(bytes.data(), samples.data(), bytes.size());
  return bytes;
}

// 16 bit, a tone of `frequency_hz` at half amplitude in every channel.
inline void put_tone(const std::filesystem::path& path, double seconds, WavFormat format = {},
                     double frequency_hz = 440) {
  std::vector<std::int16_t> samples;
  const auto frames = std::lround(seconds * format.rate_hz);
  for (long i = 0; i < frames; ++i) {
    const double phase =
        2 * std::numbers::pi * frequency_hz * static_cast<double>(i) / format.rate_hz;
    for (int channel = 0; channel < format.channels; ++channel)
      samples.push_back(static_cast<std::int16_t>(std::lround(16384 * std::sin(phase))));
  }
  put(path, wav_bytes(format, sample_bytes(samples)));
}

}  // namespace navtalk::test
