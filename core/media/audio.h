// Audio in: any file FFmpeg reads, to mono float samples; resampling with libsoxr as MuseTalk's
// reference does. See musetalk reference, section "audio to log-mel": samples in [-1,1), channels
// averaged before resampling.
#pragma once

#include <filesystem>
#include <stop_token>
#include <vector>

namespace navtalk {

struct Audio {
  int rate_hz = 0;
  std::vector<float> samples;  // mono, [-1, 1)
  double duration_s() const {
    return rate_hz == 0 ? 0.0 : static_cast<double>(samples.size()) / rate_hz;
  }
};

// Throws Error{not_found} for a missing file, Error{invalid} for one without a readable audio
// stream or with no samples at all. A file damaged at its end yields what could be decoded only if
// at least one sample did; a decoding error in the middle is Error{invalid}.
Audio decode_audio(const std::filesystem::path& path, const std::stop_token& stop = {});

// libsoxr HQ, then padded with zeros or cut to ceil(n * (rate_hz / from_hz)) samples; a copy at
// equal rates.
Audio resample(const Audio& audio, int rate_hz);

}  // namespace navtalk
