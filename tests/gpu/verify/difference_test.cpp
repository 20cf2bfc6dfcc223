#include "gpu/verify/difference.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

using navtalk::difference;

TEST_CASE("floats differ by maximum, rms, and the expected values' standard deviation") {
  const std::vector<float> expected{0, 2, 4, 6}, computed{0, 2, 4, 7};
  const navtalk::FloatDifference d = difference(computed, expected);
  CHECK(d.max == 1);
  CHECK(d.rms == Approx(0.5));
  CHECK(d.std == Approx(std::sqrt(5.0)));
}

TEST_CASE("a value that is not finite is infinitely far away") {
  const std::vector<float> expected{1, 2};
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    const std::vector<float> computed{1, bad};
    CHECK(std::isinf(difference(computed, expected).max));
    CHECK(std::isinf(difference(computed, expected).rms));
  }
}

TEST_CASE("bytes differ by levels, percentage and signal-to-noise ratio") {
  const std::vector<std::uint8_t> expected{10, 20, 30, 40}, computed{10, 20, 27, 41};
  const navtalk::ByteDifference d = difference(computed, expected);
  CHECK(d.max == 3);
  CHECK(d.differing_percent == Approx(50));
  CHECK(d.psnr_db == Approx(10 * std::log10(255 * 255 / 2.5)));
}

TEST_CASE("equal bytes have an infinite signal-to-noise ratio") {
  const std::vector<std::uint8_t> bytes{1, 2, 3};
  const navtalk::ByteDifference d = difference(bytes, bytes);
  CHECK(d.max == 0);
  CHECK(d.differing_percent == 0);
  CHECK(std::isinf(d.psnr_db));
}
