// WAV files whose length needs no decoder. Pure.
#pragma once

#include <optional>
#include <string_view>

namespace navtalk::server {

// Seconds of sound in a WAV file of integer PCM, at most eight channels at 4 to 192 kHz, whose samples end where the file
// ends. nullopt for everything else, which a decoder judges.
std::optional<double> plain_wav_seconds(std::string_view file);

}  // namespace navtalk::server
