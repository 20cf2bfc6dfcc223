// Compares the sound that a session gives back with what its client sent, again and again the same speech. A worker whose
// client's clock is faster leaves out pieces of 4 to 20 ms, with seams of up to 10 ms (docs/protocol.md): those are found and
// counted apart. Pure.
#pragma once

#include <cstdint>
#include <span>

#include "cmd/bench/serve/speech.h"

namespace navtalk::cmd {

class ReturnedSound {
 public:
  // `speech` outlives it.
  explicit ReturnedSound(const Speech& speech) : speech_(speech) {}

  // The next samples that came back.
  void take(std::span<const std::int16_t> samples);
  // As many as that, which are not compared.
  void pass(std::uint64_t samples) {
    first_ = next_;
    next_ += samples;
  }
  // Counts from the beginning of the speech again, as its client does.
  void begin_again() { next_ = unsettled_ = 0; }

  // The number, among those that were sent, of the first sample that take() got last.
  std::uint64_t first() const { return first_; }
  // Of the sample that should come next.
  std::uint64_t next() const { return next_; }
  // Samples that were left out, and samples that came back otherwise without that.
  std::uint64_t left_out() const { return left_out_; }
  std::uint64_t altered() const { return altered_; }

 private:
  std::int16_t sent(std::uint64_t number) const {
    return speech_.samples[number % speech_.samples.size()];
  }
  // How many were left out before the end of these; 0: none, or it cannot be told.
  std::uint64_t gap_in(std::span<const std::int16_t> samples) const;

  const Speech& speech_;
  std::uint64_t first_ = 0, next_ = 0, left_out_ = 0, altered_ = 0;
  std::uint64_t unsettled_ =
      0;  // of `altered_`: the last ones, which a seam explains where a gap follows
};

}  // namespace navtalk::cmd
