// How long a text lasts when espeak-ng speaks it; the sound is kept nowhere. Stateless.
#pragma once

#include <stop_token>
#include <string>

#include "core/process/run.h"
#include "core/speech/markup.h"

namespace navtalk {

// Of 1. espeak-ng gives digital silence for text that it cannot speak; speech peaks near 1.
inline constexpr float k_quietest_speech = 0.01F;

struct SpokenLength {
  double seconds = 0;
  bool silent = true;     // none of it was spoken, as of a text of dashes
  bool too_long = false;  // espeak-ng was ended, since it spoke for longer than it may
  RunResult ran{};
};

// Speaks until `most_s` seconds are over. espeak-ng writes to a pipe, so that it ends with this process, however that ends.
// Errors of speak_into().
SpokenLength measure_spoken(const std::string& text, const std::string& voice, Markup markup,
                            double most_s, const std::stop_token& stop = {});

}  // namespace navtalk
