// The sound that the clients of `bench serve` send: mono, 16 bits. Read from a WAV file, or spoken by
// espeak-ng. Stateless.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <stop_token>
#include <vector>

namespace navtalk::cmd {

struct Speech {
  int rate_hz = 0;  // 8000 to 48000, as session.start takes it
  std::vector<std::int16_t> samples{};
};

// Of a WAV file's bytes: PCM, 16 bits, one channel. A length that goes beyond the end, as programs
// that write to a pipe leave it, means up to the end. Error{invalid} for anything else.
Speech parse_wav(std::span<const std::uint8_t> bytes);
// The same of a file. Error{not_found}, Error{invalid} name it.
Speech read_wav(const std::filesystem::path& file);
// About 12 s of English. Error{not_found} without espeak-ng.
Speech spoken_sample(const std::stop_token& stop);

}  // namespace navtalk::cmd
