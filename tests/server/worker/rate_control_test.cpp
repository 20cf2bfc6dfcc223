// How many pictures a second are made, on a clock of the test's own.
#include "server/worker/live/rate_control.h"

#include <catch2/catch.hpp>

using namespace navtalk::server;
using namespace std::chrono_literals;

namespace {

struct Rated {
  RateControl control;
  RateControl::Clock::time_point now{1h};

  // The next picture, at the control's own rate. True when the rate changed.
  bool sent(std::chrono::milliseconds after, std::chrono::milliseconds working = 30ms) {
    now += control.slot();
    return control.note(PictureDelay{.whole = after, .working = working}, now);
  }
  bool left_out() {
    now += control.slot();
    return control.note(std::nullopt, now);
  }
  // How long it takes until the rate changes while all pictures are sent so late.
  std::chrono::microseconds until_change(std::chrono::milliseconds after) {
    const auto begin = now;
    while (!sent(after)) {
      if (now - begin > 10min) return std::chrono::microseconds::max();
    }
    return std::chrono::duration_cast<std::chrono::microseconds>(now - begin);
  }
};

}  // namespace

TEST_CASE("pictures that are in time keep the rate for good") {
  Rated rated;
  CHECK(rated.until_change(70ms) == std::chrono::microseconds::max());
  CHECK(rated.control.rate() == 25);
  CHECK(rated.control.slot() == 40ms);
}

TEST_CASE("the work on a picture is no reason for a lower rate, waiting for others is") {
  Rated rated;
  for (int picture = 0; picture < 1000; ++picture) CHECK_FALSE(rated.sent(150ms, 115ms));
  for (int picture = 0; picture < 2; ++picture) CHECK_FALSE(rated.sent(150ms, 100ms));
  CHECK(rated.sent(150ms, 100ms));
  CHECK(rated.control.rate() == 20);
}

TEST_CASE("pictures that take too long altogether lower the rate, also when nothing waits") {
  Rated rated;
  for (int picture = 0; picture < 2; ++picture) CHECK_FALSE(rated.sent(170ms, 165ms));
  CHECK(rated.sent(170ms, 165ms));
  CHECK(rated.control.rate() == 20);
}

TEST_CASE("single pictures that are late change nothing, three of ten do") {
  Rated rated;
  for (int rounds = 0; rounds < 20; ++rounds) {
    CHECK_FALSE(rated.sent(120ms));
    CHECK_FALSE(rated.sent(120ms));
    for (int well = 0; well < 8; ++well) CHECK_FALSE(rated.sent(30ms));
  }
  rated.sent(120ms);
  rated.sent(120ms);
  CHECK(rated.sent(120ms));
  CHECK(rated.control.rate() == 20);
}

TEST_CASE("a picture that is left out counts as two") {
  Rated rated;
  CHECK_FALSE(rated.left_out());
  CHECK(rated.left_out());
  CHECK(rated.control.rate() == 20);
}

TEST_CASE(
    "the rate falls in steps to 15, no further, and not before the last step has shown its "
    "effect") {
  Rated rated;
  CHECK(rated.until_change(150ms) < 200ms);
  CHECK(rated.control.rate() == 20);
  CHECK(rated.until_change(150ms) > 500ms);
  CHECK(rated.control.rate() == 15);
  CHECK(rated.until_change(150ms) == std::chrono::microseconds::max());
  CHECK(rated.control.rate() == 15);
  CHECK(rated.control.slot() == 66'667us);
}

TEST_CASE("the rate comes back after five seconds that went well") {
  Rated rated;
  rated.until_change(150ms);
  rated.until_change(150ms);
  CHECK(rated.until_change(30ms) > 4900ms);
  CHECK(rated.control.rate() == 20);
  CHECK(rated.until_change(30ms) < 6s);
  CHECK(rated.control.rate() == 25);
}

TEST_CASE("one late picture starts the five seconds again") {
  Rated rated;
  rated.until_change(150ms);
  for (int second = 0; second < 30; ++second) {
    for (int picture = 0; picture < 20; ++picture) CHECK_FALSE(rated.sent(30ms));
    CHECK_FALSE(rated.sent(150ms));
  }
  CHECK(rated.control.rate() == 20);
}

TEST_CASE(
    "a rate that is too high again at once is tried more and more rarely, once a minute at least") {
  Rated rated;
  rated.until_change(150ms);
  std::chrono::microseconds wait{}, last{};
  for (int tries = 0; tries < 8; ++tries) {
    wait = rated.until_change(30ms);
    CHECK(rated.control.rate() == 25);
    CHECK(wait >= last);
    last = wait;
    rated.until_change(150ms);
    CHECK(rated.control.rate() == 20);
  }
  CHECK(wait > 55s);
  CHECK(wait < 65s);
  SECTION("until it has lasted for ten seconds") {
    rated.until_change(30ms);
    for (int picture = 0; picture < 300; ++picture) CHECK_FALSE(rated.sent(30ms));
    rated.until_change(150ms);
    CHECK(rated.until_change(30ms) < 7s);
  }
}
