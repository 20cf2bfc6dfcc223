// Leaving out a little of a sound so that the seam is not heard. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

namespace navtalk::server {

struct SoundCut {
  std::size_t length = 0;  // samples
  double likeness = 0;     // -1..1, of both sides of the seam: their correlation
};

// The cut at the front of `sound`, of `least` to `most` samples, whose two sides are most alike over `fade` samples: in
// a voice or a note, one or more whole periods. `sound` has `most + fade` samples or more; 0 < least <= most.
SoundCut best_cut(const std::deque<std::int16_t>& sound, std::size_t least, std::size_t most,
                  std::size_t fade, int rate_hz);

// Leaves out the first `cut` samples; what follows begins as they did, and passes into its own within `fade` samples.
void cut_front(std::deque<std::int16_t>& sound, std::size_t cut, std::size_t fade);

}  // namespace navtalk::server
