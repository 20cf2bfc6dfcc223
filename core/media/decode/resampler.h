// libsoxr HQ on mono sound that comes in pieces. The samples are those that resample() makes of the whole
// recording (core/media/decode/audio.h), and do not depend on the pieces. One thread owns it. Private to
// core/media.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace navtalk::media {

class Resampler {
 public:
  // Error{invalid} for rates that are not positive. Equal rates copy.
  Resampler(int from_hz, int to_hz);
  ~Resampler();
  Resampler(const Resampler&) = delete;
  Resampler& operator=(const Resampler&) = delete;

  // Appends to `out` what is ready; it holds nothing but this resampler's samples.
  void add(std::span<const float> mono, std::vector<float>& out);
  // The rest, padded with zeros or cut to ceil(n * (to_hz / from_hz)) samples in all, with the `taken_out` that `out` does
  // not hold any more.
  void finish(std::vector<float>& out, std::size_t taken_out = 0);

  // So many samples `count` become.
  std::size_t length_of(std::int64_t count) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace navtalk::media
