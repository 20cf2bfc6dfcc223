#include "server/gateway/jobs/faults/unkept_jobs.h"

#include <catch2/catch.hpp>

using namespace navtalk;
using namespace navtalk::server;
using namespace std::chrono_literals;

namespace {

const JobId k_large{"large"}, k_larger{"larger"}, k_small{"small"};
constexpr UnkeptJobs::Time k_begin{1h};

}  // namespace

TEST_CASE("a gateway pauses twice as long after each job that it cannot keep, until it keeps one") {
  UnkeptJobs unkept(1s);
  unkept.failed(k_large, k_begin);
  CHECK(unkept.pauses(k_begin + 999ms));
  CHECK_FALSE(unkept.pauses(k_begin + 1s));
  unkept.failed(k_larger, k_begin + 1s);
  CHECK(unkept.pauses(k_begin + 2999ms));
  CHECK_FALSE(unkept.pauses(k_begin + 3s));
  for (int i = 0; i < 20; ++i) unkept.failed(i % 2 == 0 ? k_large : k_larger, k_begin + i * 1h);
  CHECK(unkept.pauses(k_begin + 19h + 59s));
  CHECK_FALSE(unkept.pauses(k_begin + 19h + 60s));
  unkept.done(k_small);
  unkept.failed({"new"}, k_begin + 20h);
  CHECK_FALSE(unkept.pauses(k_begin + 20h + 1s));
}

TEST_CASE("a gateway does not pause for one job alone that it cannot keep again") {
  UnkeptJobs unkept(1s);
  unkept.failed(k_large, k_begin);
  unkept.failed(k_large, k_begin + 1s);
  CHECK_FALSE(unkept.pauses(k_begin + 1s));
}

TEST_CASE("a gateway does not pause for several jobs that it cannot keep while it keeps others") {
  UnkeptJobs unkept(1s);
  unkept.failed(k_large, k_begin);
  unkept.failed(k_larger, k_begin + 1s);
  unkept.done(k_small);
  unkept.failed(k_large, k_begin + 1h);
  unkept.failed(k_larger, k_begin + 1h);
  CHECK_FALSE(unkept.pauses(k_begin + 1h));
}

TEST_CASE("how often a job could not be kept is counted until it ends otherwise") {
  UnkeptJobs unkept(1s);
  CHECK(unkept.times(k_large) == 0);
  // Also of those that end while the gateway pauses already.
  for (int i = 0; i < 3; ++i) unkept.failed(k_large, k_begin);
  unkept.failed(k_larger, k_begin);
  unkept.done(k_small);
  CHECK(unkept.times(k_large) == 3);
  CHECK(unkept.times(k_larger) == 1);
  unkept.ended(k_large);
  unkept.done(k_larger);
  CHECK(unkept.times(k_large) == 0);
  CHECK(unkept.times(k_larger) == 0);
}
