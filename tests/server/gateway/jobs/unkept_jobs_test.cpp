#include "server/gateway/jobs/faults/unkept_jobs.h"

#include <catch2/catch.hpp>

using namespace navtalk;
using namespace navtalk::server;
using namespace std::chrono_literals;

namespace {

const JobId k_first_unkept{"first"}, k_second_unkept{"second"}, k_kept_job{"kept"};
constexpr UnkeptJobs::Time k_unkept_at{1h};

}  // namespace

TEST_CASE("a gateway pauses twice as long after each job that it cannot keep, until it keeps one") {
  UnkeptJobs unkept(1s);
  unkept.failed(k_first_unkept, k_unkept_at);
  CHECK(unkept.pauses(k_unkept_at + 999ms));
  CHECK_FALSE(unkept.pauses(k_unkept_at + 1s));
  unkept.failed(k_second_unkept, k_unkept_at + 1s);
  CHECK(unkept.pauses(k_unkept_at + 2999ms));
  CHECK_FALSE(unkept.pauses(k_unkept_at + 3s));
  for (int i = 0; i < 20; ++i)
    unkept.failed(i % 2 == 0 ? k_first_unkept : k_second_unkept, k_unkept_at + i * 1h);
  CHECK(unkept.pauses(k_unkept_at + 19h + 59s));
  CHECK_FALSE(unkept.pauses(k_unkept_at + 19h + 60s));
  unkept.done(k_kept_job);
  unkept.failed({"new"}, k_unkept_at + 20h);
  CHECK_FALSE(unkept.pauses(k_unkept_at + 20h + 1s));
}

TEST_CASE("a gateway does not pause for one job alone that it cannot keep again") {
  UnkeptJobs unkept(1s);
  unkept.failed(k_first_unkept, k_unkept_at);
  unkept.failed(k_first_unkept, k_unkept_at + 1s);
  CHECK_FALSE(unkept.pauses(k_unkept_at + 1s));
}

TEST_CASE("a gateway does not pause for several jobs that it cannot keep while it keeps others") {
  UnkeptJobs unkept(1s);
  unkept.failed(k_first_unkept, k_unkept_at);
  unkept.failed(k_second_unkept, k_unkept_at + 1s);
  unkept.done(k_kept_job);
  unkept.failed(k_first_unkept, k_unkept_at + 1h);
  unkept.failed(k_second_unkept, k_unkept_at + 1h);
  CHECK_FALSE(unkept.pauses(k_unkept_at + 1h));
}

TEST_CASE("how often a job could not be kept is counted until it ends otherwise") {
  UnkeptJobs unkept(1s);
  CHECK(unkept.times(k_first_unkept) == 0);
  // Also of those that end while the gateway pauses already.
  for (int i = 0; i < 3; ++i) unkept.failed(k_first_unkept, k_unkept_at);
  unkept.failed(k_second_unkept, k_unkept_at);
  unkept.done(k_kept_job);
  CHECK(unkept.times(k_first_unkept) == 3);
  CHECK(unkept.times(k_second_unkept) == 1);
  unkept.ended(k_first_unkept);
  unkept.done(k_second_unkept);
  CHECK(unkept.times(k_first_unkept) == 0);
  CHECK(unkept.times(k_second_unkept) == 0);
}
