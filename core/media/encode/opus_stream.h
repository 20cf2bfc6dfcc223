// Live Opus: sound of any rate in, packets of 20 ms at 48 kHz out as soon as they are complete (libopus), for sounds that
// begin and end. One thread at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace navtalk {

inline constexpr int k_opus_rate_hz = 48'000;

struct OpusPacket {
  std::vector<std::uint8_t> bytes;
  // Of what a decoder makes of it, counted from the first sample of the sound. The first packet begins before that: a
  // decoder needs 6.5 ms to start.
  std::chrono::microseconds time{};
};

class OpusStream {
 public:
  // Mono PCM at that rate will come. Error{failed} when this FFmpeg lacks libopus.
  explicit OpusStream(int rate_hz);
  ~OpusStream();
  OpusStream(const OpusStream&) = delete;
  OpusStream& operator=(const OpusStream&) = delete;

  // The sound goes on; it begins with the first call and after finish().
  std::vector<OpusPacket> encode(std::span<const std::int16_t> samples);
  // The sound is over: what is left, filled up with silence.
  std::vector<OpusPacket> finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace navtalk
