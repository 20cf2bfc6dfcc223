// Audio in: any file FFmpeg reads, to mono float samples; resampling with libsoxr as MuseTalk's
// reference does: samples in [-1, 1), channels averaged before resampling.
#pragma once

#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

#include "core/media/limits.h"

namespace navtalk {

struct Audio {
  int rate_hz = 0;
  std::vector<float> samples;  // mono, [-1, 1)
  // Names the file and the place when these samples are not all of it: cut off, or with a gap.
  std::string damage = {};
  // It is a WAV file that was cut: its header announces more than is there.
  bool cut = false;
  double duration_s() const {
    return rate_hz == 0 ? 0.0 : static_cast<double>(samples.size()) / rate_hz;
  }
};

// Mono samples at `rate_hz`, or at the recording's own rate where that is 0. They are resampled while they
// are decoded, and are the same that resample() makes of all of them.
//
// Throws Error{not_found} for a missing file, Error{invalid} for one without a readable audio
// stream, with no samples at all, with samples that are not numbers, or one that exceeds the limits or
// what recordings of speech have: 384 kHz, 16 channels, 2^32 samples over all channels. A
// file that is damaged at its end, or shorter than its header says, yields what could be decoded, if
// at least one sample did, and says so in `damage`; a decoding error in the middle is Error{invalid}.
Audio decode_audio(const std::filesystem::path& path, const std::stop_token& stop = {},
                   const MediaLimits& limits = {}, int rate_hz = 0);

// libsoxr HQ, then padded with zeros or cut to ceil(n * (rate_hz / from_hz)) samples; a copy at
// equal rates.
Audio resample(const Audio& audio, int rate_hz);

}  // namespace navtalk
