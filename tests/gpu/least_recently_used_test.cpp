// What is kept of costly values within a budget.
#include "gpu/device/least_recently_used.h"

#include <catch2/catch.hpp>
#include <string>

using navtalk::LeastRecentlyUsed;

TEST_CASE("what was used longest ago is dropped first, until all fit the budget") {
  LeastRecentlyUsed<int, std::string> kept(100);
  kept.keep(1, "a", 40);
  kept.keep(2, "b", 40);
  CHECK(kept.find(1) == "a");  // used after 2
  kept.keep(3, "c", 40);
  CHECK(kept.find(1) == "a");
  CHECK_FALSE(kept.find(2));
  CHECK(kept.find(3) == "c");
  kept.keep(4, "d", 100);
  CHECK(kept.count() == 1);
  CHECK(kept.bytes() == 100);
  CHECK(kept.find(4) == "d");
}

TEST_CASE("a value larger than the whole budget is not kept and drops nothing else") {
  LeastRecentlyUsed<int, std::string> kept(100);
  kept.keep(1, "a", 60);
  kept.keep(2, "b", 101);
  CHECK_FALSE(kept.find(2));
  CHECK(kept.find(1) == "a");
}

TEST_CASE("a newer value of a key takes the place and the bytes of the older one") {
  LeastRecentlyUsed<int, std::string> kept(100);
  kept.keep(1, "a", 60);
  kept.keep(1, "b", 50);
  CHECK(kept.find(1) == "b");
  CHECK(kept.bytes() == 50);
  CHECK(kept.count() == 1);
}
