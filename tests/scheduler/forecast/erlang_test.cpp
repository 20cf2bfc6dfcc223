#include "scheduler/forecast/erlang.h"

#include <array>
#include <catch2/catch.hpp>
#include <cmath>

#include "scheduler/forecast/normal.h"

using namespace navtalk;

namespace {

struct Row {
  double load;
  int five_percent, one_percent;
};
// Textbook values: least N with C(N, a) within five and one per cent.
constexpr std::array<Row, 6> k_rows = {
    {{5, 10, 12}, {10, 17, 19}, {20, 29, 32}, {40, 52, 57}, {80, 97, 103}, {160, 183, 192}}};

}  // namespace

TEST_CASE("the least number of servers for a wanted wait is that of the table") {
  for (const Row& row : k_rows) {
    INFO("load " << row.load);
    CHECK(least_servers(row.load, 0.05) == row.five_percent);
    CHECK(least_servers(row.load, 0.01) == row.one_percent);
    CHECK(erlang_c(row.one_percent, row.load) <= 0.01);
    CHECK(erlang_c(row.one_percent - 1, row.load) > 0.01);
  }
}

TEST_CASE("one server waits as often as it is busy") {
  CHECK(erlang_c(1, 0.3) == Approx(0.3));
  CHECK(erlang_c(2, 1.0) == Approx(1.0 / 3));
}

TEST_CASE("without load nobody waits, and a load above the servers lets everybody wait") {
  CHECK(erlang_c(0, 0) == 0);
  CHECK(least_servers(0, 0.01) == 0);
  CHECK(erlang_c(3, 3) == 1);
  CHECK(erlang_c(3, 7) == 1);
  CHECK(erlang_wait_longer(3, 7, 100) == 1);
}

TEST_CASE("the longer the wait, the rarer") {
  CHECK(erlang_wait_longer(12, 10, 0) == Approx(erlang_c(12, 10)));
  CHECK(erlang_wait_longer(12, 10, 1) == Approx(erlang_c(12, 10) * std::exp(-2.0)));
}

TEST_CASE("the normal quantile is the inverse of the distribution") {
  for (const double p : {1e-10, 1e-4, 0.01, 0.3, 0.5, 0.9, 0.975, 1 - 1e-6}) {
    CHECK(normal_below(normal_quantile(p)) == Approx(p).epsilon(1e-6));
  }
  CHECK(normal_quantile(0.975) == Approx(1.959963985));
}
