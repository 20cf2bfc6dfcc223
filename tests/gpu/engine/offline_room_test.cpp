// How many faces of jobs go into a batch, on a clock of the test's own.
#include "gpu/engine/offline_room.h"

#include <catch2/catch.hpp>

using namespace navtalk;
using namespace std::chrono_literals;

namespace {

using Clock = DeviceForecast::Clock;

constexpr Clock::time_point k_now{1h};

BatchTimes times(std::initializer_list<std::pair<std::size_t, std::chrono::milliseconds>> made) {
  BatchTimes all;
  for (const auto& [size, took] : made) all.note(size, took);
  return all;
}

// A GPU: a face takes 5 ms, eight take 12.
BatchTimes gpu() { return times({{1, 5ms}, {4, 8ms}, {8, 12ms}}); }

DeviceForecast one_lane(std::vector<std::chrono::milliseconds> requests) {
  DeviceForecast device{.sessions = true};
  for (const auto in : requests) device.requests.push_back(k_now + in);
  return device;
}

DeviceForecast two_lanes(std::chrono::milliseconds other_free, bool other_offline,
                         std::vector<std::chrono::milliseconds> requests) {
  DeviceForecast device = one_lane(std::move(requests));
  device.others.push_back({.free = k_now + other_free, .offline = other_offline});
  return device;
}

}  // namespace

TEST_CASE("without sessions jobs have the whole batch, also before any batch was made") {
  CHECK(offline_room({}, {}, 0, 8, k_now) == 8);
  CHECK(offline_room({}, gpu(), 0, 8, k_now) == 8);
}

TEST_CASE("beside sessions jobs have nothing while no time of a batch is known") {
  CHECK(offline_room(one_lane({}), {}, 0, 8, k_now) == 0);
  CHECK(offline_room(one_lane({}), {}, 1, 8, k_now) == 0);
}

TEST_CASE("jobs fill a live batch as far as it becomes little longer") {
  CHECK(offline_room(one_lane({40ms}), gpu(), 1, 8, k_now) == 7);
  CHECK(offline_room(one_lane({40ms}), gpu(), 8, 8, k_now) == 0);
  CHECK(offline_room(one_lane({40ms}), gpu(), 9, 8, k_now) == 0);
  // Where each face takes as long as the first one, none.
  CHECK(offline_room(one_lane({200ms}), times({{1, 20ms}}), 1, 4, k_now) == 0);
}

TEST_CASE("a batch of jobs is over when the next live request is expected") {
  CHECK(offline_room(one_lane({12ms}), gpu(), 0, 8, k_now) == 8);
  CHECK(offline_room(one_lane({4ms}), gpu(), 0, 8, k_now) == 8);  // 8 ms late
  CHECK(offline_room(one_lane({1ms}), gpu(), 0, 8, k_now) == 4);
  CHECK(offline_room(one_lane({0ms}), times({{1, 9ms}}), 0, 8, k_now) == 0);
  CHECK(offline_room(one_lane({20ms}), times({{1, 60ms}}), 0, 1, k_now) == 0);
}

TEST_CASE("a session that may speak at any moment waits for no long batch of jobs") {
  CHECK(offline_room(one_lane({}), times({{1, 30ms}}), 0, 1, k_now) == 1);
  CHECK(offline_room(one_lane({}), times({{1, 60ms}}), 0, 1, k_now) == 0);
  // Another lane is there for it, unless it draws for jobs, too.
  CHECK(offline_room(two_lanes(0ms, false, {}), times({{1, 60ms}}), 0, 1, k_now) == 1);
  CHECK(offline_room(two_lanes(0ms, true, {}), times({{1, 60ms}}), 0, 1, k_now) == 0);
}

TEST_CASE("a lane is left to live requests where the others are busy when they come") {
  const BatchTimes face = times({{1, 30ms}});
  CHECK(offline_room(two_lanes(20ms, false, {25ms, 65ms}), face, 0, 1, k_now) == 1);
  CHECK(offline_room(two_lanes(60ms, false, {10ms, 50ms}), face, 0, 1, k_now) == 0);
  // Each lane takes every second request of a session that asks faster than one of them draws.
  CHECK(offline_room(two_lanes(0ms, false, {5ms, 25ms}), face, 0, 1, k_now) == 1);
  CHECK(offline_room(two_lanes(0ms, false, {5ms, 15ms}), face, 0, 1, k_now) == 0);
}

TEST_CASE("what would wait anyway does not count") {
  // The other lane is busy for long: the request waits for this one, with jobs or without.
  const BatchTimes face = times({{1, 30ms}});
  CHECK(offline_room(two_lanes(100ms, false, {40ms}), face, 0, 1, k_now) == 1);
}

TEST_CASE(
    "a batch's time is that of slow ones, forgotten slowly, and between sizes that of the "
    "smaller") {
  BatchTimes learned;
  CHECK_FALSE(learned.expected(1));
  learned.note(2, 20ms);
  CHECK(learned.expected(1) == 20ms);
  CHECK(learned.expected(2) == 20ms);
  CHECK(learned.expected(3) == 30ms);
  learned.note(2, 40ms);
  CHECK(learned.expected(2) == 40ms);
  learned.note(2, 20ms);
  CHECK(learned.expected(2) == 38ms);
  for (int i = 0; i < 100; ++i) learned.note(2, 20ms);
  CHECK(learned.expected(2) == 20ms);
}
