// What a recording holds, found by decoding all of it, of which nothing is kept. It judges as decode_audio() does
// (core/media/decode/audio.h), and opens no file: a process may do it that can open none.
#pragma once

#include <stop_token>
#include <string>
#include <variant>

#include "core/base/unique_fd.h"
#include "core/media/limits.h"

namespace navtalk {

struct MeasuredSound {
  std::string codec;  // as FFmpeg names it: "opus", "pcm_s16le"
  int rate_hz = 0, channels = 0;
  double duration_s = 0;
};

// By which rule nobody can have it rendered:
//
//   codec      it is not sound that can be decoded, or holds none
//   duration   it lasts longer than the limits allow
//   sampling   it has more channels, samples or samples a second than recordings of speech have
//   decoding   it takes more memory to decode than this process may have
struct RefusedSound {
  std::string rule, message;
};

// `name`: what messages call it. Error{failed} when the file cannot be read; a stop request throws as throw_if_stopped.
std::variant<MeasuredSound, RefusedSound> measure_sound(UniqueFd file, const std::string& name,
                                                        const MediaLimits& limits,
                                                        const std::stop_token& stop = {});

}  // namespace navtalk
