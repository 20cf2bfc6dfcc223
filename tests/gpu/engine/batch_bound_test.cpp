#include "gpu/engine/batch_bound.h"

#include <catch2/catch.hpp>

using namespace navtalk;
using namespace std::chrono_literals;

namespace {

constexpr BatchBound::Clock::time_point after(std::chrono::seconds time) {
  return BatchBound::Clock::time_point(1h + time);
}

}  // namespace

TEST_CASE("batches are half of what was too large, and one at the least") {
  BatchBound bound(8);
  CHECK(bound.at(after(0s)) == 8);
  CHECK(bound.exceeded(8, after(0s)));
  CHECK(bound.at(after(1s)) == 4);
  CHECK(bound.exceeded(3, after(1s)));
  CHECK(bound.at(after(2s)) == 1);
  CHECK_FALSE(bound.exceeded(1, after(2s)));
  CHECK(bound.at(after(3s)) == 1);
}

TEST_CASE("an older batch that was too large as well makes the bound no larger and no smaller") {
  BatchBound bound(8);
  bound.exceeded(4, after(0s));
  CHECK_FALSE(bound.exceeded(8, after(0s)));
  CHECK(bound.at(after(1s)) == 2);
}

TEST_CASE("after half a minute batches may be twice as large, and again, up to the largest") {
  BatchBound bound(6);
  bound.exceeded(4, after(0s));
  CHECK(bound.at(after(29s)) == 2);
  CHECK(bound.at(after(30s)) == 4);
  CHECK(bound.at(after(59s)) == 4);
  CHECK(bound.at(after(60s)) == 6);
  CHECK(bound.at(after(300s)) == 6);
}

TEST_CASE("the pause doubles while larger batches keep failing, up to eight minutes") {
  BatchBound bound(8);
  auto now = after(0s);
  bound.exceeded(8, now);
  for (const auto pause : {30s, 60s, 120s, 240s, 480s, 480s}) {
    CHECK(bound.at(now + pause - 1s) == 4);
    CHECK(bound.at(now + pause) == 8);
    now += pause;
    bound.exceeded(8, now);
  }
}

TEST_CASE("a failure long after the last one is a first one") {
  BatchBound bound(8);
  bound.exceeded(8, after(0s));
  bound.exceeded(8, after(30s));
  bound.exceeded(8, after(1000s));
  CHECK(bound.at(after(1030s)) == 8);
}

TEST_CASE("what is never to be made is never tried") {
  BatchBound bound(8);
  bound.limit(4);
  CHECK(bound.at(after(1000s)) == 4);
  bound.exceeded(4, after(1000s));
  CHECK(bound.at(after(2000s)) == 4);
  CHECK(bound.current() == 4);
}
