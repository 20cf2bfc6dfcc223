#include "cmd/bench/serve/returned_sound.h"

#include <algorithm>
#include <set>

namespace navtalk::cmd {
namespace {

// Left out at once where several pieces came together, the longest seam, and what has to agree behind it.
constexpr int k_most_left_out_ms = 200, k_seam_ms = 10, k_tail_ms = 4;
// Fewer different values in a tail are found anywhere.
constexpr std::size_t k_telling = 8;

std::uint64_t samples_of(int ms, int rate_hz) {
  return static_cast<std::uint64_t>(ms) * static_cast<std::uint64_t>(rate_hz) / 1000;
}

bool tells(std::span<const std::int16_t> samples) {
  return std::set<std::int16_t>(samples.begin(), samples.end()).size() >= k_telling;
}

}  // namespace

// By the last part of the samples that is like no other.
std::uint64_t ReturnedSound::gap_in(std::span<const std::int16_t> samples) const {
  const std::uint64_t length = samples_of(k_tail_ms, speech_.rate_hz);
  const std::uint64_t most = samples_of(k_most_left_out_ms, speech_.rate_hz);
  for (std::uint64_t end = samples.size(); end >= length; end -= length) {
    const auto tail = samples.subspan(end - length, length);
    if (!tells(tail)) continue;
    for (std::uint64_t gap = 1; gap <= most; ++gap) {
      const std::uint64_t at = next_ + gap + end - length;
      std::uint64_t same = 0;
      while (same < length && tail[same] == sent(at + same)) ++same;
      if (same == length) return gap;
    }
    return 0;
  }
  return 0;
}

void ReturnedSound::take(std::span<const std::int16_t> samples) {
  first_ = next_;
  const auto unlike = [&](std::uint64_t gap) {
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < samples.size(); ++i) {
      if (samples[i] != sent(next_ + i) && samples[i] != sent(next_ + gap + i)) ++count;
    }
    return count;
  };
  const std::uint64_t others = unlike(0);
  const std::uint64_t gap = others > 0 ? gap_in(samples) : 0;
  if (gap == 0) {
    unsettled_ = others;
    altered_ += others;
  } else {
    // What is neither what was due nor what is due now is the seam, which may have begun in the samples before.
    const std::uint64_t seam = unsettled_ + unlike(gap);
    altered_ += seam - unsettled_;
    altered_ -= std::min(seam, samples_of(k_seam_ms, speech_.rate_hz));
    unsettled_ = 0;
    left_out_ += gap;
    first_ += gap;
  }
  next_ += samples.size() + gap;
}

}  // namespace navtalk::cmd
