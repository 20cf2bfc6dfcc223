// WAV files whose length needs no decoder, and those that are cut. Pure.
#pragma once

#include <optional>
#include <string_view>

namespace navtalk::server {

// Seconds of sound in a WAV file of integer PCM, at most eight channels at 4 to 192 kHz, whose samples end where the file
// ends. nullopt for everything else, which a decoder judges.
std::optional<double> plain_wav_seconds(std::string_view file);

// Lengths of a recording, in seconds.
struct CutWav {
  double expected_s = 0;  // by its header
  double actual_s = 0;    // that is there

  friend bool operator==(const CutWav&, const CutWav&) = default;
};
// Of a WAV file of any codec that lacks more than a tenth of a second of what its header says. nullopt for others, and where the
// header was written before the length was known: a size of 0, or of nearly 2 or 4 GiB.
std::optional<CutWav> cut_wav(std::string_view file);

}  // namespace navtalk::server
