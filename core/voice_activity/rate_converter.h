// A sound at any rate from 8000 to 48000 Hz, converted to 16 kHz while it comes: a windowed sinc of 12 zero crossings to
// each side. The result does not depend on the pieces in which the sound comes. One sound each; of one thread.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace navtalk {

class RateConverter {
 public:
  explicit RateConverter(int rate_hz);
  // Appends to `converted` what is known now, in [-1, 1): up to 1.5 ms before the end of `samples`.
  void convert(std::span<const std::int16_t> samples, std::vector<float>& converted);

 private:
  int rate_hz_;
  std::int64_t reach_ = 0;        // samples of the kernel to each side
  std::vector<float> kernels_{};  // [phases, 2 reach_]
  std::vector<float> heard_{};
  std::int64_t first_ = 0;      // of heard_, in the sound
  std::int64_t converted_ = 0;  // samples that have gone out
};

}  // namespace navtalk
