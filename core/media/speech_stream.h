// Speech by espeak-ng's program that is had while the rest of it is still being made.
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

namespace navtalk {

// Takes the next samples of a sound, 16 bits, one channel. False: no more of it is wanted.
using TakeSound = std::function<bool(std::vector<std::int16_t> samples)>;

// Speaks plain UTF-8 `text` with an espeak-ng voice, and gives its sound at `rate_hz` to `take`, on this thread: in parts of
// about a second each as soon as they are made, together the samples that decode_audio() makes of the file of speak(). Once
// `take` wants no more, the rest is not made. Errors of speak(), Error{failed} perhaps after some of the sound, and what
// `take` throws. A stop request ends it as throw_if_stopped.
void speak_in_parts(const std::string& text, const std::string& voice, int rate_hz,
                    const TakeSound& take, const std::stop_token& stop = {});

}  // namespace navtalk
