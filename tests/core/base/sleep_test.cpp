#include "core/base/sleep.h"

#include <catch2/catch.hpp>
#include <thread>

using namespace navtalk;
using namespace std::chrono_literals;

TEST_CASE("a pause lasts as long as asked, unless a stop is requested before or during it") {
  const auto begin = std::chrono::steady_clock::now();
  CHECK(sleep_for(20ms, {}));
  CHECK(std::chrono::steady_clock::now() - begin >= 20ms);
  std::stop_source stop;
  const std::jthread other([&stop] { stop.request_stop(); });
  CHECK(!sleep_for(1h, stop.get_token()));
  CHECK(!sleep_for(1h, stop.get_token()));
}
