// The sound of a file, as a WAV file of its own beside pictures.
#pragma once

#include <filesystem>
#include <stop_token>

#include "core/media/limits.h"

namespace navtalk {

struct SoundFileOptions {
  std::filesystem::path source, output;  // of any kind; WAV, 16 bits
  double start_s = 0,
         duration_s = 0;  // the part that is written; silence where the source has ended
  std::stop_token stop{};
  MediaLimits limits{};
};

// At the source's own rate and channels. Errors of decode_audio; Error{failed} when it cannot be written.
void write_sound_file(const SoundFileOptions& options);

}  // namespace navtalk
