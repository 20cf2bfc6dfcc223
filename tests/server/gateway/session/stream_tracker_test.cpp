#include "server/gateway/session/stream_tracker.h"

#include <catch2/catch.hpp>

using namespace navtalk::server;
using namespace std::chrono_literals;

namespace {

constexpr StreamTracker::Clock::time_point k_begin{1h};

MediaHeader sound(std::uint32_t sequence, std::chrono::microseconds time) {
  return {.kind = MediaKind::pcm, .sequence = sequence, .time = time};
}
MediaHeader picture(std::uint32_t sequence, std::chrono::microseconds time) {
  return {.kind = MediaKind::video, .sequence = sequence, .time = time};
}

}  // namespace

TEST_CASE("a session without media stands nowhere") {
  const StreamTracker stream(k_begin);
  CHECK_FALSE(stream.position(k_begin));
  CHECK(stream.since_last(k_begin + 1s) == 1s);
}

TEST_CASE("another worker goes on with the next numbers, at the time that it is by then") {
  StreamTracker stream(k_begin);
  stream.note(picture(6, 240ms), k_begin);
  stream.note(sound(3, 280ms), k_begin + 40ms);
  // A picture is made after the sound of its time was sent: the clock is the sound's.
  stream.note(picture(7, 280ms), k_begin + 90ms);
  CHECK(stream.position(k_begin + 2040ms) ==
        StreamPosition{.clock = 2280ms, .sounds = 4, .pictures = 8});
  CHECK(stream.since_last(k_begin + 2090ms) == 2s);
}

TEST_CASE("the clock of a session never stands still, whatever the worker's clock does") {
  StreamTracker stream(k_begin);
  stream.note(picture(6, 240ms), k_begin);
  CHECK(stream.position(k_begin)->clock == 280ms);
  stream.note(picture(7, 200ms), k_begin + 1s);  // of a worker whose clock went back
  CHECK(stream.position(k_begin + 1s)->clock == 1240ms);
  stream.note(picture(8, -5s), k_begin + 1s);
  CHECK(stream.position(k_begin + 1s)->pictures == 9);
}

TEST_CASE("sequence numbers go on after the last one of 32 bits") {
  StreamTracker stream(k_begin);
  stream.note(sound(0xffffffff, 0ms), k_begin);
  CHECK(stream.position(k_begin)->sounds == 0);
}
